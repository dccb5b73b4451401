//! Represents the partition of the standard topology, with a field for each role.

use std::sync::Arc;

use lango_protocol::AgentName;
use lango_tool::RegisteredTool;

use crate::{AgentSpec, ToolPartition};

/// Holds the tools of the seven roles and the tools without an owner. Other topologies use
/// [`ToolPartition`].
#[derive(Debug, Clone, Default)]
pub struct RoleToolSet {
    /// Shell, file and skill tools.
    pub operator: Vec<Arc<RegisteredTool>>,
    /// Web page tools.
    pub navigator: Vec<Arc<RegisteredTool>>,
    /// Key, secret and payment tools.
    pub vault: Vec<Arc<RegisteredTool>>,
    /// Knowledge tools.
    pub librarian: Vec<Arc<RegisteredTool>>,
    /// Always empty in the standard topology, because the planner has no tools.
    pub planner: Vec<Arc<RegisteredTool>>,
    /// Memory tools.
    pub chronicler: Vec<Arc<RegisteredTool>>,
    /// Tools for scheduled, background and multi-step work.
    pub automator: Vec<Arc<RegisteredTool>>,
    /// Tools that none of the seven roles owns.
    pub unmatched: Vec<Arc<RegisteredTool>>,
}

impl RoleToolSet {
    /// Returns the tools of the role with the name of this spec; empty if it is not one of the
    /// seven.
    pub fn tools_for_spec(&self, spec: &AgentSpec) -> &[Arc<RegisteredTool>] {
        match spec.name.as_str() {
            "operator" => &self.operator,
            "navigator" => &self.navigator,
            "vault" => &self.vault,
            "librarian" => &self.librarian,
            "planner" => &self.planner,
            "chronicler" => &self.chronicler,
            "automator" => &self.automator,
            _ => &[],
        }
    }

    fn tools_of_mut(&mut self, owner: &AgentName) -> &mut Vec<Arc<RegisteredTool>> {
        match owner.as_str() {
            "operator" => &mut self.operator,
            "navigator" => &mut self.navigator,
            "vault" => &mut self.vault,
            "librarian" => &mut self.librarian,
            "planner" => &mut self.planner,
            "chronicler" => &mut self.chronicler,
            "automator" => &mut self.automator,
            _ => &mut self.unmatched,
        }
    }
}

impl From<ToolPartition> for RoleToolSet {
    /// Keeps every tool: the tools of an agent outside the seven roles count as unmatched.
    fn from(partition: ToolPartition) -> Self {
        let mut set = Self { unmatched: partition.unmatched, ..Self::default() };
        for (owner, tools) in partition.by_agent {
            set.tools_of_mut(&owner).extend(tools);
        }
        set
    }
}
