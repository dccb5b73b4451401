//! Who works after a turn, and who helps during one.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use lango_protocol::{SessionId, TurnId};
use tokio_util::task::TaskTracker;

/// The end of an observer's work; an error says what was not done, for a person.
pub type ObserverFuture<'a> = Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'a>>;

/// Learns from a turn after it has ended: memory, lessons, open questions. Works from the journal,
/// in the background and never on the user's time. Implemented by the agents' crates.
pub trait TurnObserver: Send + Sync {
    /// A turn has ended, whichever way.
    fn finished<'a>(&'a self, session: &'a SessionId, turn: TurnId) -> ObserverFuture<'a>;
}

/// Says what helped when a call failed before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Advice {
    /// The whole advice, for the agent that called.
    pub text: String,
    /// What helped, in short, for a person.
    pub remedy: String,
}

/// What is known about a failure, when it is found.
pub type AdviceFuture<'a> = Pin<Box<dyn Future<Output = Option<Advice>> + Send + 'a>>;

/// Knows what helped when a call failed before. Implemented by the librarian.
pub trait Advisor: Send + Sync {
    /// Looks for advice about a call of `tool` that failed with `error`. It is put under the error,
    /// for the agent that called.
    fn advise<'a>(&'a self, tool: &'a str, error: &'a str) -> AdviceFuture<'a>;
}

/// The observers at work.
#[derive(Default)]
pub(crate) struct Afterwards {
    pub(crate) observers: Vec<Arc<dyn TurnObserver>>,
    tasks: TaskTracker,
    /// What they could not do. A lock, because it is held for one push.
    troubles: Arc<Mutex<Vec<String>>>,
}

/// Troubles that are kept until somebody asks.
const MOST_TROUBLES: usize = 20;

impl Afterwards {
    pub(crate) fn new(observers: Vec<Arc<dyn TurnObserver>>) -> Self {
        Self { observers, ..Self::default() }
    }

    /// Lets them work, one after the other, while others go on.
    pub(crate) fn begin(&self, session: &SessionId, turn: TurnId) {
        if self.observers.is_empty() {
            return;
        }
        let (observers, session) = (self.observers.clone(), session.clone());
        let troubles = Arc::clone(&self.troubles);
        self.tasks.spawn(async move {
            for observer in observers {
                if let Err(trouble) = observer.finished(&session, turn).await {
                    tracing::warn!(%session, %turn, "an observer could not finish");
                    tracing::debug!(reason = trouble, "why it could not");
                    let mut troubles = troubles.lock().unwrap_or_else(PoisonError::into_inner);
                    if troubles.len() < MOST_TROUBLES {
                        troubles.push(trouble);
                    }
                }
            }
        });
    }

    /// Waits until nobody works any more, and says what could not be done.
    pub(crate) async fn settled(&self) -> Vec<String> {
        self.tasks.close();
        self.tasks.wait().await;
        self.tasks.reopen();
        std::mem::take(&mut *self.troubles.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
