//! Builds the agent tree from agent specs: which agents exist, which tools each owns, and its
//! prompt.
//!
//! [`AgentSpec`]s form a [`Topology`], [`partition_tools`] gives every tool one owner,
//! [`capability_description`] describes what an owner can do, and [`build_agent_tree`] writes the
//! prompts and returns the [`AgentTree`].
//!
//! The crate does no I/O and calls no model. The caller reads a user's files; `lango-runtime` runs
//! turns and enforces the rules of the prompts.

mod builder;
mod capability;
mod card;
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
    AgentTreeConfig, DEFAULT_MAX_DELEGATION_ROUNDS, RemoteAgentSpec, SubAgentPrompt,
    build_agent_tree,
};
pub use capability::{GENERAL_ACTIONS, capability_description, tool_capability};
pub use card::{CARDS_SOURCE, describe_remote_agents};
pub use error::OrchestrationError;
pub use partition::{ToolPartition, partition_tools};
pub use prompt::{PromptSection, PromptSections};
pub use role_tool_set::RoleToolSet;
pub use spec::AgentSpec;
pub use topology::{HEADER_FILE, MatchOrder, Topology, UnmatchedToolPolicy};
pub use tree::{AgentTree, Orchestrator, RootAgent, SingleAgent, SubAgent, SubAgentKind};
