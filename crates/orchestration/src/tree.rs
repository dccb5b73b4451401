//! The agents of a process: an orchestrator with its specialists, or one agent alone.

use std::sync::Arc;

use lango_protocol::AgentName;
use lango_tool::RegisteredTool;

/// Every agent of a process. Built once, at start.
#[derive(Debug, Clone)]
pub struct AgentTree {
    /// The agent that is spoken to.
    pub root: Root,
}

/// The agent that is spoken to.
#[derive(Debug, Clone)]
pub enum Root {
    /// `agent.multiAgent` is on.
    Team(Orchestrator),
    /// `agent.multiAgent` is off.
    Single(SingleAgent),
}

/// The agent that only delegates.
///
/// Invariant: it owns no tool. There is no field a callable tool could be put in; `unmatched` is
/// what nobody may call, kept to be reported.
#[derive(Debug, Clone)]
pub struct Orchestrator {
    /// Always [`lango_protocol::ORCHESTRATOR`].
    pub name: AgentName,
    /// Identity, routing table and rules.
    pub system_prompt: Arc<str>,
    /// Whom it can hand over to: the local agents in registry order, then the remote ones.
    pub sub_agents: Vec<SubAgent>,
    /// The tools that no agent owns.
    pub unmatched: Vec<Arc<RegisteredTool>>,
    /// The delegation limit, never 0.
    pub max_delegation_rounds: u32,
}

/// An agent that the orchestrator can hand over to.
#[derive(Debug, Clone)]
pub struct SubAgent {
    /// The one exact name.
    pub name: AgentName,
    /// What its tools can do, in words; without tools, what it is for.
    pub description: String,
    /// What it is told. Empty for a remote agent, which has its own.
    pub system_prompt: Arc<str>,
    /// Where it runs.
    pub kind: SubAgentKind,
}

/// Where a sub-agent runs.
#[derive(Debug, Clone)]
pub enum SubAgentKind {
    /// In this process.
    Local {
        /// The tools it owns, by name.
        tools: Vec<Arc<RegisteredTool>>,
    },
    /// Reached over the network.
    Remote,
}

/// One agent with every tool.
#[derive(Debug, Clone)]
pub struct SingleAgent {
    /// Always [`lango_protocol::SINGLE_AGENT`].
    pub name: AgentName,
    /// All sections.
    pub system_prompt: Arc<str>,
    /// Every tool, by name.
    pub tools: Vec<Arc<RegisteredTool>>,
}

impl AgentTree {
    /// The root's name: the author of answers that carry none.
    pub fn root_name(&self) -> &AgentName {
        match &self.root {
            Root::Team(orchestrator) => &orchestrator.name,
            Root::Single(agent) => &agent.name,
        }
    }

    /// The sub-agent of exactly this name.
    pub fn agent(&self, name: &str) -> Option<&SubAgent> {
        self.sub_agents().iter().find(|agent| agent.name == *name)
    }

    /// The sub-agents; none in single-agent mode.
    pub fn sub_agents(&self) -> &[SubAgent] {
        match &self.root {
            Root::Team(orchestrator) => &orchestrator.sub_agents,
            Root::Single(_) => &[],
        }
    }
}

impl SubAgent {
    /// The tools it owns here; a remote agent owns none here.
    pub fn tools(&self) -> &[Arc<RegisteredTool>] {
        match &self.kind {
            SubAgentKind::Local { tools } => tools,
            SubAgentKind::Remote => &[],
        }
    }
}
