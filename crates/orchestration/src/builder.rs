//! Builds the agent tree from topology, tools and texts.

use std::collections::BTreeSet;

use lango_protocol::{AgentName, ForeignText, InstructionText, ORCHESTRATOR, SINGLE_AGENT};
use lango_tool::ToolRegistry;

use crate::card::describe_card;
use crate::instruction::{DELEGATING_IDENTITY, RoutedTeam, RoutingEntry};
use crate::prompt::{PromptAudience, with_opening};
use crate::{
    AgentSpec, AgentTree, OrchestrationError, Orchestrator, PromptSections, RootAgent, SingleAgent,
    SubAgent, SubAgentKind, ToolPartition, Topology, capability_description, partition_tools,
};

/// The delegation limit if none is configured.
pub const DEFAULT_MAX_DELEGATION_ROUNDS: u32 = 5;

/// Builds a sub-agent's prompt from its name and its spec's instruction. The result is the whole
/// prompt, below the line that names the agent.
pub type SubAgentPrompt<'a> = dyn Fn(&str, &str) -> InstructionText + 'a;

/// Holds the inputs of a tree.
pub struct AgentTreeConfig<'a> {
    /// `agent.multiAgent`: a team, or one agent with every tool.
    pub multi_agent: bool,
    /// The agents that may exist.
    pub topology: &'a Topology,
    /// Every tool of the process.
    pub tools: &'a ToolRegistry,
    /// The number of transfers that the orchestrator may make in one turn; 0 stands for
    /// [`DEFAULT_MAX_DELEGATION_ROUNDS`].
    pub max_delegation_rounds: u32,
    /// Replaces how sub-agents' prompts are built. If not set, a prompt consists of the spec's
    /// instruction and the sections.
    pub sub_agent_prompt: Option<&'a SubAgentPrompt<'a>>,
    /// The remote agents, listed after the local ones.
    pub remote_agents: Vec<RemoteAgentSpec>,
    /// The texts of the prompt sections.
    pub prompts: &'a PromptSections,
}

/// Describes a remote agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteAgentSpec {
    /// Its local name.
    pub name: AgentName,
    /// The owner's description, which stands in the orchestrator's instruction.
    pub description: Option<InstructionText>,
    /// The description in its card, which the orchestrator gets as data if the owner gave none.
    pub card_description: ForeignText,
    /// The skills in its card.
    pub card_skills: Vec<ForeignText>,
}

/// Builds the agents: partitions the tools, leaves out agents that have nothing to do, and writes
/// the prompts.
pub fn build_agent_tree(config: AgentTreeConfig<'_>) -> Result<AgentTree, OrchestrationError> {
    let root = if config.multi_agent {
        RootAgent::Team(build_orchestrator(config)?)
    } else {
        RootAgent::Single(build_single_agent(&config)?)
    };
    Ok(AgentTree { root })
}

fn build_single_agent(config: &AgentTreeConfig<'_>) -> Result<SingleAgent, OrchestrationError> {
    let name: AgentName = SINGLE_AGENT.parse()?;
    let tools: Vec<_> = config.tools.iter().cloned().collect();
    let role = match capability_description(&tools) {
        none if none.is_empty() => "a personal assistant".into(),
        capabilities => {
            InstructionText::concat(["a personal assistant with tools for ".into(), capabilities])
        }
    };
    let (identity, generated) = (InstructionText::default(), InstructionText::default());
    let audience = PromptAudience::SingleAgent;
    let system_prompt = config.prompts.compose(&name, role, audience, identity, generated);
    Ok(SingleAgent { name, system_prompt, tools })
}

fn build_orchestrator(config: AgentTreeConfig<'_>) -> Result<Orchestrator, OrchestrationError> {
    let name: AgentName = ORCHESTRATOR.parse()?;
    let partition = partition_tools(config.topology, config.tools);
    let created: Vec<&AgentSpec> = specs_to_create(config.topology, &partition).collect();
    check_remote_names(&config)?;

    let mut sub_agents: Vec<SubAgent> =
        created.iter().map(|spec| build_local_agent(&config, spec, &partition)).collect();
    let local = created.iter().map(|spec| RoutingEntry::Local {
        spec,
        capabilities: capability_description(partition.tools_for_spec(spec)),
    });
    let entries: Vec<RoutingEntry<'_>> =
        local.chain(config.remote_agents.iter().map(RoutingEntry::Remote)).collect();
    let max_delegation_rounds = match config.max_delegation_rounds {
        0 => DEFAULT_MAX_DELEGATION_ROUNDS,
        rounds => rounds,
    };
    let team = RoutedTeam {
        entries: &entries,
        unmatched: &partition.unmatched,
        max_delegation_rounds,
        name_rule: config.topology.name_rule(),
    };
    let system_prompt = config.prompts.compose(
        &name,
        "the coordinator of a team of specialists".into(),
        PromptAudience::Orchestrator,
        DELEGATING_IDENTITY.into(),
        team.render_instruction(),
    );
    sub_agents.extend(config.remote_agents.into_iter().map(build_remote_agent));
    let unmatched = partition.unmatched;
    Ok(Orchestrator { name, system_prompt, sub_agents, unmatched, max_delegation_rounds })
}

/// Returns the agents that have something to do, in registry order.
fn specs_to_create<'a>(
    topology: &'a Topology,
    partition: &'a ToolPartition,
) -> impl Iterator<Item = &'a AgentSpec> {
    let specs = topology.agents().iter();
    specs.filter(|spec| spec.always_include || !partition.tools_for_spec(spec).is_empty())
}

fn build_local_agent(
    config: &AgentTreeConfig<'_>,
    spec: &AgentSpec,
    partition: &ToolPartition,
) -> SubAgent {
    let tools = partition.tools_for_spec(spec).to_vec();
    let purpose = InstructionText::from_owner(&spec.description);
    let role = InstructionText::concat(["the specialist for ".into(), purpose]);
    let system_prompt = if let Some(prompt) = config.sub_agent_prompt {
        let prompt = prompt(spec.name.as_str(), &spec.instruction);
        with_opening(&spec.name, role, prompt)
    } else {
        let audience = PromptAudience::SubAgent { has_tools: !tools.is_empty() };
        let identity = InstructionText::from_owner(&spec.instruction);
        config.prompts.compose(&spec.name, role, audience, identity, InstructionText::default())
    };
    let description = match capability_description(&tools) {
        none if none.is_empty() => spec.description.clone(),
        capabilities => capabilities.to_string(),
    };
    SubAgent {
        name: spec.name.clone(),
        description,
        system_prompt,
        kind: SubAgentKind::Local { tools },
    }
}

fn build_remote_agent(remote: RemoteAgentSpec) -> SubAgent {
    let card = describe_card(&remote);
    let description = remote.description.as_deref().unwrap_or(card.as_data()).to_owned();
    SubAgent {
        name: remote.name,
        description,
        system_prompt: "".into(),
        kind: SubAgentKind::Remote { card: remote.description.is_none().then_some(card) },
    }
}

/// Compares with every agent of the topology, created or not: whether a remote name is free must
/// not depend on which tools happen to be configured today.
fn check_remote_names(config: &AgentTreeConfig<'_>) -> Result<(), OrchestrationError> {
    let mut taken: BTreeSet<&str> =
        config.topology.agents().iter().map(|spec| spec.name.as_str()).collect();
    taken.extend([ORCHESTRATOR, SINGLE_AGENT]);
    match config.remote_agents.iter().find(|remote| !taken.insert(remote.name.as_str())) {
        Some(remote) => Err(OrchestrationError::RemoteNameTaken { name: remote.name.clone() }),
        None => Ok(()),
    }
}
