//! Runs observers after a turn, and defines advisors that help during one.

use std::borrow::Cow;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use lango_protocol::{Event, SessionId, Space, TurnId};
use lango_store::{Journal, StoreError};
use parking_lot::Mutex;
use tokio_util::task::TaskTracker;

/// Resolves when the observer has finished; an error describes, for a person, what was not done.
pub type ObserverFuture<'a> = Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>>;

/// Represents a turn that has ended.
#[derive(Debug)]
pub struct FinishedTurn {
    /// Its session.
    pub session: SessionId,
    /// Its id.
    pub turn: TurnId,
    /// The space of its sender.
    pub space: Space,
    events: Vec<Event>,
    /// The number of redactions in the journal when the turn began.
    redactions: u64,
}

impl FinishedTurn {
    /// Creates a turn with its events. `redactions` is the number of redactions in the journal
    /// before the first of them was written.
    pub fn new(
        session: SessionId,
        turn: TurnId,
        space: Space,
        events: Vec<Event>,
        redactions: u64,
    ) -> Self {
        Self { session, turn, space, events, redactions }
    }

    /// Returns its events, in order. They are read from the journal if words were redacted there
    /// since.
    pub async fn events(&self, journal: &Journal) -> Result<Cow<'_, [Event]>, StoreError> {
        if journal.redactions() == self.redactions {
            return Ok(Cow::Borrowed(&self.events));
        }
        journal.read_turn_events(&self.session, self.turn).await.map(Cow::Owned)
    }
}

/// Learns from a turn after it has ended: memory, lessons, open questions. Works in the background
/// and never delays the user. Implemented by the agent crates.
pub trait TurnObserver: Send + Sync {
    /// Is called after a turn has ended, successfully or not.
    fn finished<'a>(&'a self, turn: &'a FinishedTurn) -> ObserverFuture<'a>;
}

/// Says what helped when a call failed before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// The whole advice, for the agent that called.
    pub text: String,
    /// The remedy in short, for a person.
    pub remedy: String,
}

/// Resolves to the advice about a failure, if there is any.
pub type AdviceFuture<'a> = Pin<Box<dyn Future<Output = Option<Advice>> + Send + 'a>>;

/// Knows what helped when a call failed before. Implemented by the librarian.
pub trait Advisor: Send + Sync {
    /// Looks in a space for advice about a call of `tool` that failed with `error`. It is put under
    /// the error, for the agent that called.
    fn advise<'a>(&'a self, space: &'a Space, tool: &'a str, error: &'a str) -> AdviceFuture<'a>;
}

/// Runs the observers and tracks their tasks.
#[derive(Default)]
pub(crate) struct ObserverTasks {
    pub(crate) observers: Vec<Arc<dyn TurnObserver>>,
    tasks: TaskTracker,
    /// The failures that observers reported. The lock is held for one push.
    failures: Arc<Mutex<Vec<String>>>,
}

/// Limits the failures that are stored until they are read.
const MAX_FAILURE_COUNT: usize = 20;

impl ObserverTasks {
    pub(crate) fn new(observers: Vec<Arc<dyn TurnObserver>>) -> Self {
        Self { observers, ..Self::default() }
    }

    /// Starts the observers, one after the other, in the background.
    pub(crate) fn start_observers(&self, turn: FinishedTurn) {
        if self.observers.is_empty() {
            return;
        }
        let observers = self.observers.clone();
        let failures = Arc::clone(&self.failures);
        self.tasks.spawn(async move {
            for observer in observers {
                if let Err(failure) = observer.finished(&turn).await {
                    let FinishedTurn { session, turn, .. } = &turn;
                    tracing::warn!(%session, %turn, "an observer failed");
                    tracing::debug!(reason = failure, "reason of the observer's failure");
                    let mut failures = failures.lock();
                    if failures.len() < MAX_FAILURE_COUNT {
                        failures.push(failure);
                    }
                }
            }
        });
    }

    /// Waits until all observers have finished and returns their failures.
    pub(crate) async fn wait_until_finished(&self) -> Vec<String> {
        self.tasks.close();
        self.tasks.wait().await;
        self.tasks.reopen();
        std::mem::take(&mut *self.failures.lock())
    }
}
