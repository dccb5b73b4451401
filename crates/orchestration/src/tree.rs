//! Defines the agents of a process: an orchestrator with its specialists, or a single agent.

use std::sync::Arc;

use lango_protocol::{AgentName, ForeignText, Instruction};
use lango_tool::RegisteredTool;

/// Holds all agents of a process.
#[derive(Debug, Clone)]
pub struct AgentTree {
    /// The agent that the user talks to.
    pub root: RootAgent,
}

/// Represents the agent that the user talks to.
#[derive(Debug, Clone)]
pub enum RootAgent {
    /// `agent.multiAgent` is on.
    Team(Orchestrator),
    /// `agent.multiAgent` is off.
    Single(SingleAgent),
}

/// Represents the agent that only delegates.
///
/// Invariant: it owns no tool. There is no field for a callable tool; `unmatched` holds tools that
/// no agent may call, so that they can be reported.
#[derive(Debug, Clone)]
pub struct Orchestrator {
    /// Always [`lango_protocol::ORCHESTRATOR`].
    pub name: AgentName,
    /// Identity, routing table and rules.
    pub system_prompt: Instruction,
    /// The agents that it can transfer to: the local agents in registry order, then the remote
    /// ones.
    pub sub_agents: Vec<SubAgent>,
    /// The tools that no agent owns.
    pub unmatched: Vec<Arc<RegisteredTool>>,
    /// The delegation limit, never 0.
    pub max_delegation_rounds: u32,
}

/// Represents an agent that the orchestrator can transfer to.
#[derive(Debug, Clone)]
pub struct SubAgent {
    /// The one exact name.
    pub name: AgentName,
    /// The capabilities of its tools in words or, without tools, its purpose.
    pub description: String,
    /// Its prompt. Empty for a remote agent, which has its own.
    pub system_prompt: Instruction,
    /// Its kind: local or remote.
    pub kind: SubAgentKind,
}

/// Tells where a sub-agent runs.
#[derive(Debug, Clone)]
pub enum SubAgentKind {
    /// In this process.
    Local {
        /// The tools it owns, by name.
        tools: Vec<Arc<RegisteredTool>>,
    },
    /// On another system, reached over the network.
    Remote {
        /// The description by the agent's own card, if the owner gave none.
        card: Option<ForeignText>,
    },
}

/// Represents a single agent with every tool.
#[derive(Debug, Clone)]
pub struct SingleAgent {
    /// Always [`lango_protocol::SINGLE_AGENT`].
    pub name: AgentName,
    /// All sections.
    pub system_prompt: Instruction,
    /// Every tool, by name.
    pub tools: Vec<Arc<RegisteredTool>>,
}

impl AgentTree {
    /// Returns the root's name, which is the author of answers without one.
    pub fn root_name(&self) -> &AgentName {
        match &self.root {
            RootAgent::Team(orchestrator) => &orchestrator.name,
            RootAgent::Single(agent) => &agent.name,
        }
    }

    /// Returns the sub-agent with exactly this name.
    pub fn agent(&self, name: &str) -> Option<&SubAgent> {
        self.sub_agents().iter().find(|agent| agent.name == *name)
    }

    /// Returns the sub-agents; empty in single-agent mode.
    pub fn sub_agents(&self) -> &[SubAgent] {
        match &self.root {
            RootAgent::Team(orchestrator) => &orchestrator.sub_agents,
            RootAgent::Single(_) => &[],
        }
    }
}

impl SubAgent {
    /// Returns the local tools that it owns; a remote agent has none.
    pub fn tools(&self) -> &[Arc<RegisteredTool>] {
        match &self.kind {
            SubAgentKind::Local { tools } => tools,
            SubAgentKind::Remote { .. } => &[],
        }
    }
}
