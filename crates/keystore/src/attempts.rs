//! Slows down guesses of the passphrase. The count is in the database, so that starting another
//! process does not help.

use std::time::Duration;

use lango_protocol::Timestamp;
use lango_store::{Database, Statement, StoreError};

use crate::KeyStoreError;
use crate::state::VaultState;

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
pub(crate) fn check_attempt(state: &VaultState) -> Result<(), KeyStoreError> {
    let wait = wait_after(state.failures);
    let since = Timestamp::now().since(state.failed_at);
    // A clock that was set back makes `since` zero, and the wait no longer than it is.
    let left = wait.saturating_sub(since);
    if left.is_zero() {
        return Ok(());
    }
    Err(KeyStoreError::Backoff { seconds: left.as_secs().max(1) })
}

/// Counts a guess before it is checked, so that many at once are counted too.
pub(crate) async fn count_attempt(database: &Database) -> Result<(), StoreError> {
    let count = Statement::new(
        "UPDATE vault_state SET failures = failures + 1, failed_at = $1 WHERE id = 1",
    )
    .bind(Timestamp::now().as_microseconds());
    database.write(count.into()).await.map(drop)
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
