//! Defines remote agents, as a turn sees them.

use std::future::Future;
use std::pin::Pin;

use lango_model::Image;
use lango_protocol::{CallId, SessionId, TurnId};
use lango_redaction::Scrubber;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Describes a task for a remote agent.
#[derive(Debug)]
pub struct RemoteRequest {
    /// The local session.
    pub session: SessionId,
    /// The turn.
    pub turn: TurnId,
    /// The transfer. The same id after a restart means the same task.
    pub call: CallId,
    /// The task, in the orchestrator's words.
    pub task: String,
    /// The user's message, which is the answer if the agent had asked a question.
    pub user_text: String,
    /// The images of the message.
    pub images: Vec<Image>,
    /// The trace that the sender of the message started, as a W3C `traceparent`.
    pub trace: Option<String>,
    /// Replaces secrets in what is stored of the reply.
    pub scrubber: Scrubber,
    /// Receives the agent's text as it streams. Sending never blocks: text that does not fit is
    /// dropped.
    pub words: mpsc::Sender<String>,
    /// Is cancelled when the turn is stopped; the task should stop too.
    pub cancel: CancellationToken,
}

/// The reply of a remote agent. Its texts are untrusted data, sanitized and truncated before
/// they are shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemoteReply {
    /// The task is done.
    Answered {
        /// The result.
        text: String,
    },
    /// The agent needs input from the user.
    NeedsInput {
        /// The question.
        question: String,
    },
    /// The agent rejects the task.
    Rejected {
        /// The reason.
        reason: String,
    },
    /// The task failed.
    Failed {
        /// The reason.
        reason: String,
    },
}

/// Resolves to the reply.
pub type RemoteFuture<'a> = Pin<Box<dyn Future<Output = RemoteReply> + Send + 'a>>;

/// Accepts tasks for a remote agent. Implemented by the protocols that reach one.
pub trait RemoteAgent: Send + Sync {
    /// Sends the task and waits for the reply. Has its own limits of time and size.
    fn ask(&self, request: RemoteRequest) -> RemoteFuture<'_>;
}
