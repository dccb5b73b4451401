//! Knows which claims of this process are in use. A lease of this process that no claim uses any
//! more was left by a turn that failed, and need not be waited for.

use std::collections::HashSet;
use std::sync::LazyLock;

use parking_lot::Mutex;

/// The tokens of the claims in use, in all journals of the process. The lock is held for one look-up.
static ACTIVE_TOKENS: LazyLock<Mutex<HashSet<i64>>> = LazyLock::new(Mutex::default);

/// Keeps a token registered until it is dropped.
#[derive(Debug)]
pub(super) struct ActiveToken(i64);

impl ActiveToken {
    /// Registers a token, before its lease can be seen by others.
    pub(super) fn register(token: i64) -> Self {
        ACTIVE_TOKENS.lock().insert(token);
        Self(token)
    }

    pub(super) fn get(&self) -> i64 {
        self.0
    }
}

impl Drop for ActiveToken {
    fn drop(&mut self) {
        ACTIVE_TOKENS.lock().remove(&self.0);
    }
}

/// Tells whether a claim of this process uses the token.
pub(super) fn is_active(token: i64) -> bool {
    ACTIVE_TOKENS.lock().contains(&token)
}
