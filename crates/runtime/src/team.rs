//! Defines the agents of a turn. A turn keeps the team that it started with.

use std::collections::BTreeMap;
use std::sync::Arc;

use lango_model::{Colleague, ContextBlock};
use lango_orchestration::{
    AgentTree, CARDS_SOURCE, RootAgent, SubAgent, SubAgentKind, describe_remote_agents,
};
use lango_protocol::{AgentName, Instruction};
use lango_tool::RegisteredTool;

use crate::offer::current_declaration;
use crate::remote::RemoteAgent;
use crate::runtime::AgentModel;

/// Represents an agent with its model and tools.
pub(crate) struct Agent {
    pub(crate) name: AgentName,
    pub(crate) system_prompt: Instruction,
    pub(crate) tools: Vec<Arc<RegisteredTool>>,
    pub(crate) model: AgentModel,
}

impl Agent {
    /// Returns its tool with exactly this name.
    pub(crate) fn find_tool(&self, name: &str) -> Option<&Arc<RegisteredTool>> {
        self.tools.iter().find(|tool| tool.name() == name)
    }
}

/// Represents an agent that the orchestrator can transfer to.
pub(crate) enum Specialist {
    Local { agent: Agent, colleague: Arc<Colleague> },
    Remote { name: AgentName, agent: Arc<dyn RemoteAgent>, colleague: Arc<Colleague> },
}

impl Specialist {
    pub(crate) fn name(&self) -> &AgentName {
        match self {
            Self::Local { agent, .. } => &agent.name,
            Self::Remote { name, .. } => name,
        }
    }

    /// Returns its description for the other agents of the team.
    pub(crate) fn colleague(&self) -> &Arc<Colleague> {
        match self {
            Self::Local { colleague, .. } | Self::Remote { colleague, .. } => colleague,
        }
    }

    /// Tells whether it has no tools: it plans, and other agents act.
    pub(crate) fn has_no_tools(&self) -> bool {
        matches!(self, Self::Local { agent, .. } if agent.tools.is_empty())
    }
}

/// Holds all agents of a turn.
pub(crate) struct Team {
    pub(crate) root: Agent,
    /// In the order of the tree.
    pub(crate) specialists: Vec<Specialist>,
    /// None if there are no agents to transfer to.
    pub(crate) round_limit: Option<u32>,
    /// What remote agents say about themselves, for the root's context.
    pub(crate) cards: Option<ContextBlock>,
}

/// Creates agents.
pub(crate) struct AgentFactory {
    pub(crate) model: AgentModel,
    pub(crate) agent_models: BTreeMap<AgentName, AgentModel>,
    pub(crate) output_read: Arc<RegisteredTool>,
}

impl AgentFactory {
    fn create_agent(
        &self,
        name: &AgentName,
        prompt: &Instruction,
        tools: &[Arc<RegisteredTool>],
    ) -> Agent {
        let mut tools = tools.to_vec();
        // Every agent that has tools can read what was too long to show.
        if !tools.is_empty() {
            tools.push(Arc::clone(&self.output_read));
        }
        let model = self.agent_models.get(name).unwrap_or(&self.model).clone();
        Agent { name: name.clone(), system_prompt: prompt.clone(), tools, model }
    }

    /// Creates the agents of a tree. A remote agent without a connection is left out.
    pub(crate) fn create_team(
        &self,
        tree: &AgentTree,
        remote: &BTreeMap<AgentName, Arc<dyn RemoteAgent>>,
    ) -> Team {
        let team = match &tree.root {
            RootAgent::Single(single) => {
                let root = self.create_agent(&single.name, &single.system_prompt, &single.tools);
                return Team { root, specialists: Vec::new(), round_limit: None, cards: None };
            }
            RootAgent::Team(team) => team,
        };
        let reached = |sub: &&SubAgent| remote.contains_key(&sub.name);
        let cards = describe_cards(team.sub_agents.iter().filter(reached));
        let specialists = team.sub_agents.iter().filter_map(|sub| {
            let tools = sub.tools().iter().map(|tool| current_declaration(tool));
            let colleague = Arc::new(Colleague {
                name: sub.name.to_string(),
                description: sub.description.clone(),
                tools: tools.collect(),
            });
            match &sub.kind {
                SubAgentKind::Local { tools } => {
                    let agent = self.create_agent(&sub.name, &sub.system_prompt, tools);
                    Some(Specialist::Local { agent, colleague })
                }
                SubAgentKind::Remote { .. } => {
                    let (name, agent) = (sub.name.clone(), Arc::clone(remote.get(&sub.name)?));
                    Some(Specialist::Remote { name, agent, colleague })
                }
            }
        });
        Team {
            root: self.create_agent(&team.name, &team.system_prompt, &[]),
            specialists: specialists.collect(),
            round_limit: Some(team.max_delegation_rounds),
            cards,
        }
    }
}

/// Returns the context block with what remote agents say about themselves.
pub fn describe_cards<'a>(agents: impl IntoIterator<Item = &'a SubAgent>) -> Option<ContextBlock> {
    let text = describe_remote_agents(agents)?;
    Some(ContextBlock { source: CARDS_SOURCE, text })
}

impl Team {
    /// Returns the agent that owns a tool.
    pub(crate) fn find_tool_owner(&self, tool: &str) -> Option<&AgentName> {
        let agents = self.specialists.iter().filter_map(|specialist| match specialist {
            Specialist::Local { agent, .. } => Some(agent),
            Specialist::Remote { .. } => None,
        });
        let mut agents = agents.chain([&self.root]);
        agents.find(|agent| agent.find_tool(tool).is_some()).map(|agent| &agent.name)
    }

    /// Returns a local agent by name.
    pub(crate) fn find_agent(&self, name: &AgentName) -> Option<&Agent> {
        if self.root.name == *name {
            return Some(&self.root);
        }
        match self.find_specialist(name)? {
            Specialist::Local { agent, .. } => Some(agent),
            Specialist::Remote { .. } => None,
        }
    }

    /// Returns a specialist by name.
    pub(crate) fn find_specialist(&self, name: &AgentName) -> Option<&Specialist> {
        self.specialists.iter().find(|specialist| specialist.name() == name)
    }
}
