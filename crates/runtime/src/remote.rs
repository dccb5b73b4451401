//! Agents that run elsewhere, as a turn sees them.

use std::future::Future;
use std::pin::Pin;

use lango_model::Image;
use lango_protocol::{CallId, SessionId, TurnId};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// A task for an agent elsewhere.
#[derive(Debug)]
pub struct RemoteRequest {
    /// The conversation here.
    pub session: SessionId,
    /// The turn.
    pub turn: TurnId,
    /// The hand-over. The same one again, after a restart, is the same task.
    pub call: CallId,
    /// The task, in the orchestrator's words.
    pub task: String,
    /// What the user wrote: the answer, where the agent had asked something.
    pub user_text: String,
    /// What came with it.
    pub images: Vec<Image>,
    /// The trace that whoever sent the message has begun, as a W3C `traceparent`.
    pub trace: Option<String>,
    /// Where the agent's words go as they come. Nobody waits for them: what does not fit is left out.
    pub words: mpsc::Sender<String>,
    /// The turn is stopped: so should be the task.
    pub cancel: CancellationToken,
}

/// What came of it. Every text is a stranger's: it is data, cleaned and bounded before it is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RemoteReply {
    /// It is done.
    Answered {
        /// The result.
        text: String,
    },
    /// It cannot go on without the user.
    NeedsInput {
        /// What it wants to know.
        question: String,
    },
    /// It does not do this.
    Rejected {
        /// Why.
        reason: String,
    },
    /// It did not work.
    Failed {
        /// Why.
        reason: String,
    },
}

/// The future of a reply.
pub type RemoteFuture<'a> = Pin<Box<dyn Future<Output = RemoteReply> + Send + 'a>>;

/// Somebody elsewhere who takes tasks. Implemented by the protocols that reach them.
pub trait RemoteAgent: Send + Sync {
    /// Hands the task over and waits for what comes of it. Has its own limits of time and size.
    fn ask(&self, request: RemoteRequest) -> RemoteFuture<'_>;
}
