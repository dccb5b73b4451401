//! Defines topologies: which agents exist, in which order they claim tools, and which agent gets
//! the rest.
//!
//! A topology is data. Two are built in ([`embedded`]); a user's own comes from a folder of agent
//! files with an optional [`HEADER_FILE`] ([`header`]).

mod embedded;
mod header;

use std::collections::BTreeSet;

use lango_protocol::{AgentName, ORCHESTRATOR, SINGLE_AGENT};

use crate::{AgentSpec, OrchestrationError};
pub use header::HEADER_FILE;
use header::TopologyHeader;

/// The order in which agents claim tools.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MatchOrder {
    /// The agent with the longest matching prefix; among equals, the first in the registry.
    LongestPrefix,
    /// The first of these agents with a matching prefix.
    Agents(Vec<AgentName>),
}

/// Decides about tools that no prefix matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnmatchedToolPolicy {
    /// No agent gets it, and it is reported.
    NoAgent,
    /// It goes to this agent.
    Agent(AgentName),
}

/// Represents a validated set of agents.
///
/// Invariants: at least one agent; names are unique and none is a root agent's; every name in the
/// match order and the unmatched policy is one of the agents; every agent with prefixes is in the
/// match order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Topology {
    name: String,
    agents: Vec<AgentSpec>,
    match_order: MatchOrder,
    unmatched: UnmatchedToolPolicy,
    name_rule: String,
}

impl Topology {
    /// Returns the default topology: seven focused agents; unmatched tools have no owner.
    ///
    /// Fails only when the program was built from a broken file.
    pub fn standard() -> Result<Self, OrchestrationError> {
        Self::from_files("standard", embedded::STANDARD)
    }

    /// Returns a topology with four agents and a short prompt, for small models; unmatched tools go
    /// to `executor`.
    ///
    /// Fails only when the program was built from a broken file.
    pub fn compact() -> Result<Self, OrchestrationError> {
        Self::from_files("compact", embedded::COMPACT)
    }

    /// Creates a topology from the `(file name, text)` pairs of one folder.
    ///
    /// Without a [`HEADER_FILE`] the agents are in alphabetical order, the longest prefix claims a
    /// tool, and unmatched tools have no owner. `name` is used when the header has none.
    pub fn from_files(name: &str, files: &[(&str, &str)]) -> Result<Self, OrchestrationError> {
        let mut header = TopologyHeader::default();
        let mut agents = Vec::new();
        for (file, text) in files {
            if file.rsplit('/').next() == Some(HEADER_FILE) {
                header = TopologyHeader::parse(file, text)?;
            } else {
                agents.push(AgentSpec::parse(file, text)?);
            }
        }
        agents.sort_by(|a, b| a.name.cmp(&b.name));
        header.into_topology(name, agents)?.validate()
    }

    /// Adds agents, or replaces those of the same name.
    ///
    /// A replaced agent keeps its position. A new one is last in the registry and claims tools
    /// before all others, because a person who adds an agent for some tools wants it to have them.
    pub fn with_agents(
        mut self,
        extra: impl IntoIterator<Item = AgentSpec>,
    ) -> Result<Self, OrchestrationError> {
        let mut claiming = Vec::new();
        for spec in extra {
            let listed = match &self.match_order {
                MatchOrder::LongestPrefix => true,
                MatchOrder::Agents(order) => order.contains(&spec.name),
            };
            if !listed && !claiming.contains(&spec.name) {
                claiming.push(spec.name.clone());
            }
            match self.agents.iter_mut().find(|agent| agent.name == spec.name) {
                Some(existing) => *existing = spec,
                None => self.agents.push(spec),
            }
        }
        if let MatchOrder::Agents(order) = &mut self.match_order {
            order.splice(0..0, claiming);
        }
        self.validate()
    }

    /// Restricts the topology to these agents. Tools of the other agents could then be claimed by
    /// these, so the caller must leave out the others' tools too.
    pub fn only(mut self, agents: &BTreeSet<AgentName>) -> Result<Self, OrchestrationError> {
        self.agents.retain(|agent| agents.contains(&agent.name));
        if let MatchOrder::Agents(order) = &mut self.match_order {
            order.retain(|name| agents.contains(name));
        }
        if let UnmatchedToolPolicy::Agent(name) = &self.unmatched
            && !agents.contains(name)
        {
            self.unmatched = UnmatchedToolPolicy::NoAgent;
        }
        self.validate()
    }

    /// Returns the topology's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the agents, in registry order.
    pub fn agents(&self) -> &[AgentSpec] {
        &self.agents
    }

    /// Returns the spec with exactly this name.
    pub fn agent(&self, name: &str) -> Option<&AgentSpec> {
        self.agents.iter().find(|agent| agent.name == *name)
    }

    /// Returns the order in which agents claim tools.
    pub fn match_order(&self) -> &MatchOrder {
        &self.match_order
    }

    /// Returns the policy for tools that no prefix matches.
    pub fn unmatched(&self) -> &UnmatchedToolPolicy {
        &self.unmatched
    }

    /// Returns the sentence that forbids the orchestrator to invent names.
    pub fn name_rule(&self) -> &str {
        &self.name_rule
    }

    fn validate(self) -> Result<Self, OrchestrationError> {
        if self.agents.is_empty() {
            return Err(OrchestrationError::NoAgents { topology: self.name });
        }
        let mut seen = BTreeSet::new();
        for agent in &self.agents {
            if [ORCHESTRATOR, SINGLE_AGENT].contains(&agent.name.as_str()) {
                return Err(OrchestrationError::ReservedName { name: agent.name.clone() });
            }
            if !seen.insert(&agent.name) {
                return Err(OrchestrationError::DuplicateAgent { name: agent.name.clone() });
            }
        }
        if let MatchOrder::Agents(order) = &self.match_order {
            self.check_known("match_order", order)?;
            let unordered =
                |agent: &&AgentSpec| !agent.prefixes.is_empty() && !order.contains(&agent.name);
            if let Some(agent) = self.agents.iter().find(unordered) {
                return Err(self.missing_agent_error("match_order", &agent.name));
            }
        }
        if let UnmatchedToolPolicy::Agent(name) = &self.unmatched {
            self.check_known("unmatched", std::slice::from_ref(name))?;
        }
        Ok(self)
    }

    fn check_known(
        &self,
        field: &'static str,
        names: &[AgentName],
    ) -> Result<(), OrchestrationError> {
        match names.iter().find(|name| self.agent(name.as_str()).is_none()) {
            None => Ok(()),
            Some(name) => Err(OrchestrationError::UnknownAgent {
                topology: self.name.clone(),
                field,
                name: name.clone(),
            }),
        }
    }

    fn missing_agent_error(&self, field: &'static str, name: &AgentName) -> OrchestrationError {
        OrchestrationError::MissingAgent { topology: self.name.clone(), field, name: name.clone() }
    }
}
