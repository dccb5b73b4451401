//! Implements the MCP server: it offers a tool `ask`, the tools of single agents if the owner
//! enables them, and the conversations of a caller as resources.
//!
//! It runs over standard input and output ([`serve_stdio`]) or over HTTP ([`McpEndpoint`]). Every
//! request is a turn, with the approvals, budgets and journal of every other turn; a caller never
//! answers an approval, even if its client could.

mod ask;
mod direct;
mod http;
mod progress;
mod sessions;
mod stdio;
mod team_server;

use std::sync::Arc;

use lango_protocol::{AgentName, Caller};
use lango_tool::RegisteredTool;

pub use http::{HandlerFactory, McpEndpoint, McpParts, endpoint_for};
pub use stdio::{StdioError, serve_stdio};
pub use team_server::TeamServer;

/// Represents a tool that a caller may call directly.
#[derive(Debug, Clone)]
pub struct OfferedTool {
    /// The agent that owns it.
    pub agent: AgentName,
    /// The tool.
    pub tool: Arc<RegisteredTool>,
}

/// Provides the tools that are offered directly. Implemented by the application.
pub trait OfferedTools: Send + Sync {
    /// Returns the tools that a caller may call directly.
    fn tools(&self, caller: &Caller) -> Vec<OfferedTool>;
}
