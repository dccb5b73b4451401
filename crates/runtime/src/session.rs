//! Manages the sessions of this process: one turn at a time each, and a cache between turns.

use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::time::Duration;

use lango_protocol::SessionId;
use lango_store::{ClaimError, Journal, SessionClaim};
use parking_lot::Mutex;
use tokio::sync::OwnedMutexGuard;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::TurnError;
use crate::events_adapter::PastTurn;

/// Holds the conversation up to a position of the journal. It is valid until another process
/// writes.
#[derive(Debug, Default)]
pub(crate) struct SessionCache {
    pub(crate) head: u64,
    /// The number of turns of the session that have ended.
    pub(crate) finished: u64,
    pub(crate) turns: Arc<Vec<PastTurn>>,
    /// The number of redactions in the journal when it was read.
    pub(crate) redactions: u64,
}

type SessionSlot = tokio::sync::Mutex<SessionCache>;

/// Holds the sessions in use.
///
/// Each session has a lock that is acquired in order: a second message waits until the first is
/// answered. The outer lock is held for a lookup only.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    slots: Mutex<HashMap<SessionId, Weak<SessionSlot>>>,
    /// The most recent sessions stay cached, so that a conversation is not read again for each
    /// message.
    recent: Mutex<Vec<Arc<SessionSlot>>>,
}

impl Sessions {
    const MAX_RECENT_SESSIONS: usize = 64;

    /// Waits until the session is free.
    pub(crate) async fn lock_session(&self, session: &SessionId) -> OwnedMutexGuard<SessionCache> {
        let slot = self.find_or_create_slot(session);
        slot.lock_owned().await
    }

    fn find_or_create_slot(&self, session: &SessionId) -> Arc<SessionSlot> {
        let mut slots = self.slots.lock();
        let known = slots.get(session).and_then(Weak::upgrade);
        let slot = known.unwrap_or_else(|| {
            slots.retain(|_, slot| slot.strong_count() > 0);
            let slot = Arc::new(SessionSlot::default());
            slots.insert(session.clone(), Arc::downgrade(&slot));
            slot
        });
        let mut recent = self.recent.lock();
        recent.retain(|other| !Arc::ptr_eq(other, &slot));
        if recent.len() >= Self::MAX_RECENT_SESSIONS {
            recent.remove(0);
        }
        recent.push(Arc::clone(&slot));
        slot
    }
}

/// Sets how often a busy session is tried again.
pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Claims a session in the journal, waiting up to `wait` for another process, or until the user
/// cancels.
pub(crate) async fn claim_with_wait(
    journal: &Journal,
    session: &SessionId,
    workspace: &str,
    wait: Duration,
    cancel: &CancellationToken,
) -> Result<SessionClaim, TurnError> {
    let deadline = Instant::now() + wait;
    loop {
        match journal.claim_session(session, workspace).await {
            Ok(claimed) => return Ok(claimed),
            Err(ClaimError::Store(error)) => return Err(error.into()),
            Err(ClaimError::Busy(owner)) if Instant::now() >= deadline || cancel.is_cancelled() => {
                return Err(TurnError::SessionBusy { session: session.clone(), owner });
            }
            Err(ClaimError::Busy(_) | ClaimError::Behind(_) | ClaimError::Gone) => {
                // In both cases the next iteration decides.
                let _ = tokio::time::timeout(POLL_INTERVAL, cancel.cancelled()).await;
            }
        }
    }
}
