//! The team that labelled requests are about: all agents and tools of the contract, whether this
//! program has them or not. Each agent gets the same instructions as a real one.

use std::collections::BTreeMap;
use std::sync::Arc;

use lango_embedded::known_team;
use lango_model::Colleague;
use lango_orchestration::{
    AgentTreeConfig as TreeConfig, PromptSections, RootAgent, Topology, build_agent_tree,
};
use lango_protocol::{AgentName, Instruction};
use lango_runtime::offered_tools;
use lango_tool::{
    AnyTool, PreparedCall, RegisteredTool, SafetyLevel, ToolDeclaration, ToolError, ToolRegistry,
};
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::EvalError;

/// Labels small talk, which is for no agent.
pub(super) const NO_AGENT: &str = "none";

/// Sets the transfers that the orchestrator's instruction allows; it makes one here.
const MAX_DELEGATION_ROUNDS: u32 = 5;

/// The team.
pub struct EvaluatedTeam {
    pub(super) orchestrator: AgentPart,
    pub(super) colleagues: Vec<Arc<Colleague>>,
    specialists: BTreeMap<String, AgentPart>,
    tools: BTreeMap<String, ToolFacts>,
}

/// The instruction and tools of an agent.
pub(super) struct AgentPart {
    pub(super) instruction: Instruction,
    pub(super) tools: Vec<ToolDeclaration>,
}

/// The facts about a tool.
pub(crate) struct ToolFacts {
    pub(super) agent: String,
    pub(super) is_dangerous: bool,
    schema: ParameterSchema,
}

#[derive(Default, Deserialize)]
struct ParameterSchema {
    #[serde(default)]
    properties: BTreeMap<String, Box<RawValue>>,
    #[serde(default)]
    required: Vec<String>,
}

impl ToolFacts {
    pub(super) fn has(&self, parameter: &str) -> bool {
        self.schema.properties.contains_key(parameter)
    }

    pub(super) fn required(&self) -> impl Iterator<Item = &str> {
        self.schema.required.iter().map(String::as_str)
    }
}

impl EvaluatedTeam {
    /// Builds the team.
    pub fn new() -> Result<Self, EvalError> {
        let colleagues: Vec<Arc<Colleague>> = known_team().into_iter().map(Arc::new).collect();
        let mut registry = ToolRegistry::new();
        let mut tools = BTreeMap::new();
        for colleague in &colleagues {
            let owner: AgentName = colleague.name.parse().map_err(|error| team_error(&error))?;
            for declaration in &colleague.tools {
                let tool =
                    RegisteredTool::dynamic(declaration.clone(), false, Arc::new(DeclaredTool))
                        .with_owner(Some(owner.clone()));
                registry.add_registered(tool).map_err(|error| team_error(&error))?;
                let schema = serde_json::from_str(declaration.parameters.get())
                    .map_err(|error| team_error(&error))?;
                let is_dangerous = declaration.level == SafetyLevel::Dangerous;
                let agent = colleague.name.clone();
                let capability = ToolFacts { agent, is_dangerous, schema };
                tools.insert(declaration.name.to_string(), capability);
            }
        }
        let topology = Topology::standard().map_err(|error| team_error(&error))?;
        let tree = build_agent_tree(TreeConfig {
            multi_agent: true,
            topology: &topology,
            tools: &registry,
            max_delegation_rounds: MAX_DELEGATION_ROUNDS,
            sub_agent_prompt: None,
            remote_agents: Vec::new(),
            prompts: &PromptSections::default(),
        })
        .map_err(|error| team_error(&error))?;
        let offered = |name: &str| offered_tools(&tree, name).unwrap_or_default();
        let instruction = match &tree.root {
            RootAgent::Team(team) => team.system_prompt.clone(),
            RootAgent::Single(single) => single.system_prompt.clone(),
        };
        let orchestrator = AgentPart { instruction, tools: offered(tree.root_name().as_str()) };
        let specialists = tree.sub_agents().iter().map(|agent| {
            let name = agent.name.as_str();
            let instruction = agent.system_prompt.clone();
            (name.to_owned(), AgentPart { instruction, tools: offered(name) })
        });
        let specialists = specialists.collect();
        Ok(Self { orchestrator, colleagues, specialists, tools })
    }

    pub(super) fn agents(&self) -> impl Iterator<Item = &str> {
        self.colleagues.iter().map(|colleague| colleague.name.as_str())
    }

    pub(super) fn has(&self, agent: &str) -> bool {
        self.specialists.contains_key(agent)
    }

    pub(super) fn specialist(&self, agent: &str) -> Option<&AgentPart> {
        self.specialists.get(agent)
    }

    pub(crate) fn tool(&self, name: &str) -> Option<&ToolFacts> {
        self.tools.get(name)
    }
}

fn team_error(error: &impl std::fmt::Display) -> EvalError {
    EvalError::Requests(error.to_string())
}

/// A tool that is only declared.
struct DeclaredTool;

impl AnyTool for DeclaredTool {
    fn prepare(self: Arc<Self>, _: &str) -> Result<PreparedCall, ToolError> {
        Err(ToolError::Forbidden("this tool is only declared; nothing runs here".to_owned()))
    }
}
