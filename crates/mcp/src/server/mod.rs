//! This team for others: a tool `ask`, the tools of single agents where the owner offers them, and
//! the conversations of a caller as resources.
//!
//! Over standard input and output ([`serve_stdio`]) or over HTTP ([`McpDoor`]). Whatever is asked or
//! called is a turn, with the approvals, budgets and journal of every other turn; a caller never
//! answers an approval, also where its client could.

mod ask;
mod direct;
mod door;
mod progress;
mod sessions;
mod stdio;
mod team_server;

use std::sync::Arc;

use lango_protocol::{AgentName, Caller};
use lango_tool::RegisteredTool;

pub use door::{McpDoor, McpParts, ServesCaller, door_for};
pub use stdio::{StdioError, serve_stdio};
pub use team_server::TeamServer;

/// A tool that a caller may call itself.
#[derive(Debug, Clone)]
pub struct Offered {
    /// Whose it is.
    pub agent: AgentName,
    /// The tool.
    pub tool: Arc<RegisteredTool>,
}

/// Knows which tools of agents are offered directly. Implemented by the wiring.
pub trait Offers: Send + Sync {
    /// The tools that a caller may call itself.
    fn tools(&self, caller: &Caller) -> Vec<Offered>;
}
