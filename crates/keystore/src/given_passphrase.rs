//! Uses the passphrase that the process was started with, where it is one that may be used.

use crate::state::{VaultState, Wrap};

/// Remembers what became of the passphrase of the environment.
#[derive(Debug, Default)]
pub(crate) struct GivenPassphrase {
    /// How often the vault had been locked when the process looked at it first.
    lock_epoch: Option<i64>,
    /// The wrap that the passphrase does not open.
    refused: Option<String>,
}

/// Says whether the passphrase of the environment may be tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GivenUse {
    /// It may be tried.
    Allowed,
    /// The vault was locked since the process began, for this process as well.
    Locked,
    /// It was tried, and is another one. Trying it again would make the user wait as after wrong
    /// guesses.
    Refused,
}

impl GivenPassphrase {
    /// Notes the state in which the process found the vault.
    pub(crate) fn note_state(&mut self, state: &VaultState) {
        self.lock_epoch.get_or_insert(state.lock_epoch);
    }

    /// Says whether the passphrase may be tried on a wrap.
    pub(crate) fn decide_use(&self, state: &VaultState, wrap: &Wrap) -> GivenUse {
        if self.lock_epoch.is_some_and(|epoch| epoch != state.lock_epoch) {
            GivenUse::Locked
        } else if self.refused.as_deref() == Some(wrap.id.as_str()) {
            GivenUse::Refused
        } else {
            GivenUse::Allowed
        }
    }

    /// Notes that the passphrase does not open a wrap.
    pub(crate) fn note_refusal(&mut self, wrap: &Wrap) {
        self.refused = Some(wrap.id.clone());
    }
}
