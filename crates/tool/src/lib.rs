//! Defines what a tool is: a name, typed arguments, a safety level, and an implementation.
//!
//! Tools are written against [`Tool`], with their arguments as a struct. They are erased once, into
//! a [`RegisteredTool`], when they enter the [`ToolRegistry`]; JSON is used only at that boundary.
//! Which agent owns a tool is not decided here (`lango-orchestration` partitions by name), nor
//! whether a call may run (`lango-runtime` asks).

mod context;
mod declaration;
mod erased;
mod error;
mod proposal;
mod registry;
mod schema;

pub use context::{ExcludedPaths, ToolContext};
pub use declaration::{SafetyLevel, ToolDeclaration};
pub use erased::{AnyTool, ErasedCall, PreparedCall, RegisteredTool, Tool, ToolFuture, ToolOutput};
pub use error::ToolError;
pub use proposal::{BoundResource, CarriedText, Proposal, ProposedStep, StepDirectory};
pub use registry::{DuplicateTool, ToolRegistry};
pub use schema::write_schema;
