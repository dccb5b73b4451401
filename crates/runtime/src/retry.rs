//! Spaces out the attempts at promised turns that the database does not let go on.
//!
//! Several tasks look after such a turn: the collector, and every turn that waits behind it. A client
//! that asks for it is served at once.

use std::collections::HashMap;
use std::time::Duration;

use lango_egress::{Backoff, BackoffPolicy};
use lango_protocol::{Outcome, TurnId};
use parking_lot::Mutex;
use tokio::time::Instant;

use crate::TurnError;

/// The waits after attempts that failed.
pub(crate) const RETRY_WAITS: BackoffPolicy =
    BackoffPolicy::doubling(Duration::from_secs(1), Duration::from_secs(8));

/// Limits how long a turn that no task tries again is remembered.
const MAX_AGE: Duration = Duration::from_mins(1);

/// A turn that failed because of the database.
struct FailedTurn {
    waits: Backoff,
    due: Instant,
}

/// Holds the turns whose last attempt failed. The lock is held for one lookup.
#[derive(Default)]
pub(crate) struct FailedTurns {
    turns: Mutex<HashMap<TurnId, FailedTurn>>,
}

impl FailedTurns {
    /// Notes how an attempt ended.
    pub(crate) fn note_end(&self, turn: TurnId, end: &Result<Outcome, TurnError>) {
        let mut turns = self.turns.lock();
        if !matches!(end, Err(TurnError::Store(_))) {
            turns.remove(&turn);
            return;
        }
        let now = Instant::now();
        turns.retain(|_, failed| now.saturating_duration_since(failed.due) < MAX_AGE);
        let failed = turns
            .entry(turn)
            .or_insert_with(|| FailedTurn { waits: RETRY_WAITS.waits(), due: now });
        failed.due = now + failed.waits.next_wait();
    }

    /// Tells whether another attempt may begin by itself.
    pub(crate) fn is_due(&self, turn: TurnId) -> bool {
        self.turns.lock().get(&turn).is_none_or(|failed| failed.due <= Instant::now())
    }
}

#[cfg(test)]
mod tests {
    use lango_store::StoreError;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn attempts_at_a_turn_become_rarer_until_one_succeeds() {
        let failed = FailedTurns::default();
        let turn = TurnId::generate();
        let refuse = || failed.note_end(turn, &Err(TurnError::Store(StoreError::Closed)));
        let begin = Instant::now();
        let mut attempts = Vec::new();
        while begin.elapsed() < Duration::from_secs(40) {
            if failed.is_due(turn) {
                attempts.push(begin.elapsed().as_secs());
                refuse();
            }
            tokio::time::sleep(Duration::from_millis(25)).await;
        }
        assert_eq!(attempts, [0, 1, 3, 7, 15, 23, 31, 39]);
        assert!(!failed.is_due(turn));
        assert!(failed.is_due(TurnId::generate()));
        failed.note_end(turn, &Err(TurnError::NothingToResume(turn)));
        assert!(failed.is_due(turn));
        refuse();
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(failed.is_due(turn));
    }
}
