//! Tells a running tool about the turn it runs in.

use lango_protocol::{AgentName, CallId, SessionId, TurnId};
use tokio_util::sync::CancellationToken;

/// Is passed to a tool with each call.
#[derive(Debug, Clone)]
pub struct ToolContext {
    /// The conversation.
    pub session: SessionId,
    /// The turn.
    pub turn: TurnId,
    /// This call; usable as an idempotency key.
    pub call: CallId,
    /// The agent that called.
    pub agent: AgentName,
    /// The token that fires when the turn is stopped. A tool that waits must watch it.
    pub cancel: CancellationToken,
}
