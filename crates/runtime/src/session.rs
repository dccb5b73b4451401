//! Sessions of this process: one turn at a time each, and what is remembered between turns.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use lango_protocol::{Event, SessionId};
use lango_store::{Claim, ClaimError, Journal};
use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::TurnError;
use crate::events_adapter::PastTurn;

/// The conversation up to a position of the journal. Valid as long as nobody else has written.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    pub(crate) head: u64,
    /// How many turns of the session have ended.
    pub(crate) finished: u64,
    pub(crate) turns: Arc<Vec<PastTurn>>,
    /// How often words had been taken out of the journal when it was read.
    pub(crate) redactions: u64,
}

type Slot = tokio::sync::Mutex<Memory>;

/// The sessions in use.
///
/// A lock per session, because waiting for it in order is the point: a second message waits until
/// the first is answered. The outer lock is held for a look-up only.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    slots: Mutex<HashMap<SessionId, Weak<Slot>>>,
    /// The newest ones stay, so that a conversation need not be read again for each message.
    recent: Mutex<Vec<Arc<Slot>>>,
}

impl Sessions {
    const REMEMBERED: usize = 64;

    /// Waits for the session's turn to come.
    pub(crate) async fn enter(&self, session: &SessionId) -> OwnedMutexGuard<Memory> {
        let slot = self.slot(session);
        slot.lock_owned().await
    }

    fn slot(&self, session: &SessionId) -> Arc<Slot> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        let known = slots.get(session).and_then(Weak::upgrade);
        let slot = known.unwrap_or_else(|| {
            slots.retain(|_, slot| slot.strong_count() > 0);
            let slot = Arc::new(Slot::default());
            slots.insert(session.clone(), Arc::downgrade(&slot));
            slot
        });
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        recent.retain(|other| !Arc::ptr_eq(other, &slot));
        if recent.len() >= Self::REMEMBERED {
            recent.remove(0);
        }
        recent.push(Arc::clone(&slot));
        slot
    }
}

/// How often a busy session is looked at.
const LOOK_AGAIN: Duration = Duration::from_millis(100);

/// Claims a session in the journal, waiting up to `wait` for another process, or until the user
/// has enough of it. `first` makes the events that are written along with the claim, for the position of the last one there is.
pub(crate) async fn claim(
    journal: &Journal,
    session: &SessionId,
    workspace: &str,
    wait: Duration,
    cancel: &CancellationToken,
    first: impl Fn(u64) -> Vec<Event>,
) -> Result<(Claim, Vec<Event>), TurnError> {
    let deadline = Instant::now() + wait;
    loop {
        match journal.claim_with(session, workspace, &first).await {
            Ok(claimed) => return Ok(claimed),
            Err(ClaimError::Store(error)) => return Err(error.into()),
            Err(ClaimError::Busy(owner)) if Instant::now() >= deadline || cancel.is_cancelled() => {
                return Err(TurnError::SessionBusy { session: session.clone(), owner });
            }
            Err(ClaimError::Busy(_)) => {
                // Either way the next round decides.
                let _ = tokio::time::timeout(LOOK_AGAIN, cancel.cancelled()).await;
            }
        }
    }
}
