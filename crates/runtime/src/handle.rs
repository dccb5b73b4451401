//! A turn under way, from the outside.

use lango_protocol::{Event, Outcome, SessionId, TurnId};
use lango_store::{Owner, StoreError};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// Why a turn could not even be recorded. Everything else is an [`Outcome`].
#[derive(Debug, thiserror::Error)]
pub enum TurnError {
    /// Another process works in this session.
    #[error(
        "the session {session} is in use by {owner}. Wait for it, or start another one with --new"
    )]
    SessionBusy {
        /// The session.
        session: SessionId,
        /// Who has it.
        owner: Owner,
    },
    /// There is nothing to resume.
    #[error("there is no unfinished turn {0}")]
    NothingToResume(TurnId),
    /// The journal cannot be written or read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The turn's task came to an end it should not have: a bug.
    #[error("the turn ended unexpectedly: {0}. Please report this; `lango resume` goes on")]
    Broken(String),
}

/// A turn under way. Dropping it does not stop the turn; [`TurnHandle::cancel`] does.
#[derive(Debug)]
pub struct TurnHandle {
    pub(crate) session: SessionId,
    pub(crate) turn: TurnId,
    pub(crate) events: mpsc::Receiver<Event>,
    pub(crate) cancel: CancellationToken,
    pub(crate) task: JoinHandle<Result<Outcome, TurnError>>,
}

impl TurnHandle {
    /// The conversation.
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    /// The turn.
    pub fn turn(&self) -> TurnId {
        self.turn
    }

    /// The next event; `None` when the turn is over.
    pub async fn next_event(&mut self) -> Option<Event> {
        self.events.recv().await
    }

    /// Stops the turn: models, tools and branches. Its outcome still comes.
    pub fn cancel(&self) {
        self.cancel.cancel();
    }

    /// What cancels the turn, to be handed to somebody else.
    pub fn canceller(&self) -> CancellationToken {
        self.cancel.clone()
    }

    /// Waits for the end, letting events pass that nobody read.
    pub async fn outcome(mut self) -> Result<Outcome, TurnError> {
        while self.events.recv().await.is_some() {}
        match self.task.await {
            Ok(result) => result,
            Err(error) => Err(TurnError::Broken(error.to_string())),
        }
    }
}
