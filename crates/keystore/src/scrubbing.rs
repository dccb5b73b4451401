//! Lets the scrubber know the values of the vault, also those that other processes stored or unlocked.

use std::time::{Duration, Instant};

use crate::entries::{open_entry, scrubbed_name};
use crate::state::{VaultState, read_state};
use crate::{EntryInfo, KeyStore, KeyStoreError};

/// Sets how long after a failure the values are not read again, unless the vault was changed.
const RETRY_INTERVAL: Duration = Duration::from_secs(30);

/// Says which state of the vault the scrubber was last taught.
#[derive(Debug, Clone, Default)]
pub(crate) struct TaughtState {
    state: Option<(String, i64)>,
    /// Until when a failure is not tried again; none if the values of the state are known.
    failed_until: Option<Instant>,
}

impl TaughtState {
    fn of(state: &VaultState, failed_until: Option<Instant>) -> Self {
        Self { state: Some((state.vault.clone(), state.revision)), failed_until }
    }

    fn is_current(&self, state: &VaultState) -> bool {
        let of_state = |(vault, revision): &(String, i64)| {
            *vault == state.vault && *revision == state.revision
        };
        self.state.as_ref().is_some_and(of_state)
            && self.failed_until.is_none_or(|until| Instant::now() < until)
    }
}

impl KeyStore {
    /// Lets the scrubber learn all values that can be opened now, and returns their number. A locked
    /// vault has none.
    pub async fn teach_scrubber(&self) -> Result<usize, KeyStoreError> {
        match read_state(self.database()).await? {
            Some(state) => self.teach(&state).await,
            None => Ok(0),
        }
    }

    /// Does the same if the vault was changed since, or was locked. It costs one query otherwise.
    pub async fn refresh_scrubber(&self) -> Result<(), KeyStoreError> {
        let Some(state) = read_state(self.database()).await? else { return Ok(()) };
        if self.inner.taught.lock().is_current(&state) {
            return Ok(());
        }
        match self.teach(&state).await {
            // It was said when the process started, and a person may unlock the vault all the same.
            Ok(_) | Err(KeyStoreError::OtherVariable) => Ok(()),
            Err(error) => Err(error),
        }
    }

    async fn teach(&self, state: &VaultState) -> Result<usize, KeyStoreError> {
        let master = match self.master_of(state).await {
            Ok(master) => master,
            // Another process may unlock it at any time, which changes nothing of its state.
            Err(KeyStoreError::Locked) => return Ok(0),
            Err(error @ KeyStoreError::OtherVariable) => return Err(error),
            Err(error) => {
                let until = Instant::now() + RETRY_INTERVAL;
                *self.inner.taught.lock() = TaughtState::of(state, Some(until));
                return Err(error);
            }
        };
        let mut values = Vec::new();
        for entry in self.list_stored().await? {
            let EntryInfo { kind, name, .. } = &entry.info;
            match open_entry(&master, &entry) {
                Ok(value) => values.push((scrubbed_name(*kind, name), value.reveal().to_vec())),
                // One damaged value must not let the others pass.
                Err(error) => tracing::warn!(%error, "a value cannot be looked for"),
            }
        }
        let count = values.len();
        self.inner.settings.scrubber.add_all(values);
        *self.inner.taught.lock() = TaughtState::of(state, None);
        Ok(count)
    }
}
