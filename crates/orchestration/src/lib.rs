//! From agent specs to the agent tree: who exists, who owns which tool, what each agent is told.
//!
//! The way through this room is one line: [`AgentSpec`]s make a [`Topology`], [`partition_tools`]
//! gives every tool one owner, [`capability_description`] says in words what an owner can do, and
//! [`build_agent_tree`] writes the prompts and returns the [`AgentTree`].
//!
//! Pure: no I/O and no model. Reading a user's files belongs to the caller; running a turn, and
//! keeping the promises the prompts make, belongs to `lango-runtime`.

mod builder;
mod capability;
mod error;
mod front_matter;
mod instruction;
mod partition;
mod prompt;
mod role_tool_set;
mod spec;
mod topology;
mod tree;

pub use builder::{
    Config, DEFAULT_MAX_DELEGATION_ROUNDS, RemoteAgentSpec, SubAgentPrompt, build_agent_tree,
};
pub use capability::{GENERAL_ACTIONS, capability_description, tool_capability};
pub use error::OrchestrationError;
pub use partition::{Partition, partition_tools};
pub use prompt::{PromptSections, Section};
pub use role_tool_set::RoleToolSet;
pub use spec::AgentSpec;
pub use topology::{HEADER_FILE, MatchOrder, Topology, UnmatchedPolicy};
pub use tree::{AgentTree, Orchestrator, Root, SingleAgent, SubAgent, SubAgentKind};
