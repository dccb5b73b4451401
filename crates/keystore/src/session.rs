//! Shares an unlocked vault among the processes of a user.
//!
//! A file in the user's runtime directory holds a random key, and a row of the database holds the
//! master key encrypted with it. Neither is of use alone, the row expires, and locking removes both.

use std::io;
use std::path::PathBuf;

use lango_protocol::Timestamp;
use lango_store::Statement;
use lango_text::hex;
use zeroize::Zeroizing;

use crate::KeyStoreError;
use crate::cipher::EncryptionKey;
use crate::key_file::{parse_hex, write_new_private_file};
use crate::master::{MasterKey, WrapPlan};
use crate::state::{VaultState, Wrap, WrapKind};
use crate::store::KeyStore;

impl KeyStore {
    /// Writes the file, and returns the row that goes with it.
    pub(crate) fn create_session(
        &self,
        state: &VaultState,
        master: &MasterKey,
        until: Timestamp,
    ) -> Result<Wrap, KeyStoreError> {
        let key = EncryptionKey::generate()?;
        let plan = WrapPlan {
            vault: &state.vault,
            kind: WrapKind::Session,
            parameters: "{}".to_owned(),
            expires_at: Some(until),
        };
        let wrap = master.wrap(&key, plan)?;
        let path = self.session_file(&state.vault);
        let text = Zeroizing::new(format!("{}:{}\n", wrap.id, hex(key.reveal())));
        self.remove_session_file(&state.vault);
        write_new_private_file(&path, text.as_bytes()).map_err(|error| {
            KeyStoreError::SessionFile { path: path.clone(), reason: error.to_string() }
        })?;
        Ok(wrap)
    }

    /// Returns the master key of the session that this user has opened, and when it ends.
    pub(crate) fn open_session(
        &self,
        state: &VaultState,
        wraps: &[Wrap],
    ) -> Option<(MasterKey, Option<Timestamp>)> {
        let text = std::fs::read_to_string(self.session_file(&state.vault)).ok()?;
        let text = Zeroizing::new(text);
        let (id, key) = text.trim().split_once(':')?;
        let wrap = wraps.iter().find(|wrap| wrap.kind == WrapKind::Session && wrap.id == id)?;
        let master = wrap.unwrap_with(&parse_hex(key)?, state)?;
        Some((master, wrap.expires_at))
    }

    /// Removes the file. A file that stays behind opens nothing once its row is gone.
    pub(crate) fn remove_session_file(&self, vault: &str) {
        match std::fs::remove_file(self.session_file(vault)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                tracing::debug!(%error, "the file of an unlocked vault could not be removed");
            }
            _ => {}
        }
    }

    fn session_file(&self, vault: &str) -> PathBuf {
        self.inner.settings.session_directory.join(format!("vault-{vault}"))
    }
}

/// Returns the statement that removes the sessions of all users and processes.
pub(crate) fn delete_sessions() -> Statement {
    Statement::new("DELETE FROM vault_wraps WHERE kind IN ('session', 'succession')")
}

/// Returns the statement that removes what has expired.
pub(crate) fn delete_expired() -> Statement {
    Statement::new("DELETE FROM vault_wraps WHERE expires_at IS NOT NULL AND expires_at <= $1")
        .bind(Timestamp::now().as_microseconds())
}
