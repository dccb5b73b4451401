//! Parses the header file of a topology's folder.

use lango_protocol::AgentName;
use serde::Deserialize;

use super::{MatchOrder, Topology, UnmatchedToolPolicy};
use crate::{AgentSpec, OrchestrationError, front_matter};

/// Names the file in a topology's folder that describes all agents. Its front matter is read; its
/// body is a note for people that no model sees.
pub const HEADER_FILE: &str = "TOPOLOGY.md";

const NAME_RULE: &str = "NEVER invent or abbreviate agent names";

#[derive(Default, Deserialize)]
pub(super) struct TopologyHeader {
    name: Option<String>,
    agents: Option<Vec<AgentName>>,
    match_order: Option<Vec<AgentName>>,
    unmatched: Option<AgentName>,
    name_rule: Option<String>,
}

impl TopologyHeader {
    const FIELDS: &'static [&'static str] =
        &["name", "agents", "match_order", "unmatched", "name_rule"];

    pub(super) fn parse(file: &str, text: &str) -> Result<Self, OrchestrationError> {
        Ok(front_matter::parse_front_matter(file, text, Self::FIELDS)?.0)
    }

    /// Sorts `agents` into registry order. The result is not validated yet.
    pub(super) fn into_topology(
        self,
        name: &str,
        mut agents: Vec<AgentSpec>,
    ) -> Result<Topology, OrchestrationError> {
        let order = self.agents.unwrap_or_default();
        if !order.is_empty() {
            agents.sort_by_key(|agent| order.iter().position(|name| *name == agent.name));
        }
        let topology = Topology {
            name: self.name.unwrap_or_else(|| name.to_owned()),
            agents,
            match_order: self.match_order.map_or(MatchOrder::LongestPrefix, MatchOrder::Agents),
            unmatched: self
                .unmatched
                .map_or(UnmatchedToolPolicy::NoAgent, UnmatchedToolPolicy::Agent),
            name_rule: self.name_rule.unwrap_or_else(|| NAME_RULE.to_owned()),
        };
        topology.check_known("agents", &order)?;
        let unlisted = topology.agents.iter().find(|agent| !order.contains(&agent.name));
        match unlisted.filter(|_| !order.is_empty()) {
            Some(agent) => Err(topology.missing_agent_error("agents", &agent.name)),
            None => Ok(topology),
        }
    }
}
