//! Gives clients access to a running turn.

use lango_protocol::{Event, Outcome, SessionId, TurnId};
use lango_store::{LeaseOwner, StoreError};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// The reason why a turn could not be recorded. Every other failure is an [`Outcome`].
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    /// Another process uses this session.
    #[error(
        "the session {session} is in use by {owner}. Wait for it, or start another one with --new"
    )]
    SessionBusy {
        /// The session.
        session: SessionId,
        /// The process that holds it.
        owner: LeaseOwner,
    },
    /// The turn does not exist or has ended.
    #[error("there is no unfinished turn {0}")]
    NothingToResume(TurnId),
    /// The journal cannot be written or read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The turn's task panicked, which is a bug.
    #[error("the turn ended unexpectedly: {0}. Please report this; `lango resume` goes on")]
    Broken(String),
}

/// Represents a running turn. Dropping it does not stop the turn; [`TurnHandle::cancel`] does.
#[derive(Debug)]
pub struct TurnHandle {
    pub(crate) session: SessionId,
    pub(crate) turn: TurnId,
    pub(crate) events: mpsc::Receiver<Event>,
    pub(crate) cancel: CancellationToken,
    pub(crate) task: JoinHandle<Result<Outcome, TurnError>>,
}

impl TurnHandle {
    /// Returns the session.
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// Returns the turn's id.
    pub fn turn(&self) -> TurnId {
        self.turn
    }

    /// Returns the next event, or `None` when the turn is over.
    pub async fn next_event(&mut self) -> Option<Event> {
        self.events.recv().await
    }

    /// Stops the turn with its models, tools and branches. The outcome still follows.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// Returns a token that cancels the turn.
    pub fn canceller(&self) -> CancellationToken {
        self.cancel.clone()
    }

    /// Waits for the end and discards the events that were not read.
    pub async fn wait_for_outcome(mut self) -> Result<Outcome, TurnError> {
        while self.events.recv().await.is_some() {}
        match self.task.await {
            Ok(result) => result,
            Err(error) => Err(TurnError::Broken(error.to_string())),
        }
    }
}

/// Logs how a turn ended: figures only, no message text.
pub(crate) fn log_end(outcome: &Result<Outcome, TurnError>) {
    match outcome {
        Ok(Outcome { status, work }) => tracing::info!(
            status = status.name(),
            milliseconds = work.milliseconds,
            model_calls = work.spent.model_calls,
            tool_calls = work.spent.tool_calls,
            tokens = work.spent.tokens,
            "turn finished"
        ),
        Err(error) => tracing::error!(%error, "turn could not be run"),
    }
}
