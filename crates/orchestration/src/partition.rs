//! Decides which agent owns which tool. Every tool has at most one owner.

use std::collections::BTreeMap;
use std::sync::Arc;

use lango_protocol::AgentName;
use lango_tool::{RegisteredTool, ToolRegistry};

use crate::{AgentSpec, MatchOrder, Topology, UnmatchedToolPolicy};

/// Holds all tools by owner, sorted by name.
#[derive(Debug, Clone, Default)]
pub struct ToolPartition {
    /// The tools of each agent that owns any.
    pub by_agent: BTreeMap<AgentName, Vec<Arc<RegisteredTool>>>,
    /// The tools that no agent owns.
    pub unmatched: Vec<Arc<RegisteredTool>>,
}

impl ToolPartition {
    /// Returns the tools of the agent with this spec; empty if it owns none.
    pub fn tools_for_spec(&self, spec: &AgentSpec) -> &[Arc<RegisteredTool>] {
        self.by_agent.get(&spec.name).map_or(&[], Vec::as_slice)
    }
}

/// Assigns every tool to the agent that it names, or else to the agent that claims it by prefix.
///
/// It takes the registry and not a list, because a registry holds each name once and in order: the
/// result cannot depend on the order in which tools were registered.
pub fn partition_tools(topology: &Topology, tools: &ToolRegistry) -> ToolPartition {
    let mut partition = ToolPartition::default();
    for tool in tools.iter() {
        // A tool that names an agent which does not exist has no owner.
        let owner = match &tool.owner {
            Some(owner) => topology.agent(owner.as_str()).map(|spec| &spec.name),
            None => find_owner(topology, tool.name()),
        };
        match owner {
            Some(owner) => {
                partition.by_agent.entry(owner.clone()).or_default().push(Arc::clone(tool));
            }
            None => partition.unmatched.push(Arc::clone(tool)),
        }
    }
    partition
}

fn find_owner<'a>(topology: &'a Topology, tool_name: &str) -> Option<&'a AgentName> {
    let claimed = match topology.match_order() {
        MatchOrder::Agents(order) => order.iter().find(|name| {
            let spec = topology.agent(name.as_str());
            spec.is_some_and(|spec| spec.longest_match(tool_name).is_some())
        }),
        MatchOrder::LongestPrefix => {
            let mut best: Option<(usize, &AgentName)> = None;
            for spec in topology.agents() {
                let length = spec.longest_match(tool_name);
                if let Some(length) = length.filter(|&l| best.is_none_or(|(most, _)| l > most)) {
                    best = Some((length, &spec.name));
                }
            }
            best.map(|(_, name)| name)
        }
    };
    claimed.or(match topology.unmatched() {
        UnmatchedToolPolicy::NoAgent => None,
        UnmatchedToolPolicy::Agent(name) => Some(name),
    })
}
