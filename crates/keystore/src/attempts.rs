//! Slows down guesses of the passphrase. The count is in the database, so that starting another
//! process does not help.

use std::time::Duration;

use lango_protocol::Timestamp;
use lango_store::{Database, Statement, StoreError};

use crate::KeyStoreError;
use crate::state::{VaultState, read_state};
use crate::store::MAX_TRIES;

/// Sets how many wrong passphrases are free of any wait.
const FREE_FAILURES: u32 = 3;
/// Limits the wait.
const MAX_WAIT: Duration = Duration::from_mins(15);

/// Returns how long to wait after so many wrong passphrases.
fn wait_after(failures: i64) -> Duration {
    let beyond = u32::try_from(failures).unwrap_or(u32::MAX).saturating_sub(FREE_FAILURES);
    if beyond == 0 {
        return Duration::ZERO;
    }
    Duration::from_secs(1 << beyond.min(20)).min(MAX_WAIT)
}

/// Returns an error if it is too early for another guess.
fn check_attempt(state: &VaultState) -> Result<(), KeyStoreError> {
    let wait = wait_after(state.failures);
    let since = Timestamp::now().since(state.failed_at);
    // A clock that was set back makes `since` zero, and the wait no longer than it is.
    let left = wait.saturating_sub(since);
    if left.is_zero() {
        return Ok(());
    }
    Err(KeyStoreError::Backoff { seconds: left.as_secs().max(1) })
}

/// Counts a guess before it is checked, or returns an error if it is too early for one. Of guesses that
/// are made at once, each one is counted before the next may be made.
pub(crate) async fn begin_attempt(database: &Database) -> Result<(), KeyStoreError> {
    for _ in 0..MAX_TRIES {
        let state = read_state(database).await?.ok_or(KeyStoreError::NoPassphrase)?;
        check_attempt(&state)?;
        let count = Statement::new(
            "UPDATE vault_state SET failures = failures + 1, failed_at = $1 \
             WHERE id = 1 AND failures = $2 AND failed_at = $3",
        )
        .bind(Timestamp::now().as_microseconds())
        .bind(state.failures)
        .bind(state.failed_at.as_microseconds())
        .expect_rows(1);
        match database.write(count.into()).await {
            Ok(_) => return Ok(()),
            // Another guess came first, and this one may have to wait for it.
            Err(StoreError::Conflict { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(KeyStoreError::Changed)
}

/// Returns the statement that forgets the wrong passphrases after a right one.
pub(crate) fn reset_attempts() -> Statement {
    Statement::new("UPDATE vault_state SET failures = 0, failed_at = 0 WHERE id = 1")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_doubles_and_has_an_end() {
        let waits: Vec<u64> = (0..8).map(|failures| wait_after(failures).as_secs()).collect();
        assert_eq!(waits, [0, 0, 0, 0, 2, 4, 8, 16]);
        assert_eq!(wait_after(60), MAX_WAIT);
    }
}
