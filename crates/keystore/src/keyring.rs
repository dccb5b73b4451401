//! Keeps the key that wraps the master key in the system's keyring: the Secret Service of the desktop,
//! over the D-Bus of the session. On systems that have none every call says so.

use std::pin::Pin;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use uuid::Uuid;
use zeroize::Zeroizing;

use crate::KeyStoreError;
use crate::cipher::EncryptionKey;

/// Limits how long the keyring may take. A user may have to type its password in a window meanwhile.
const KEYRING_TIMEOUT: Duration = Duration::from_mins(1);

/// What is asked of the keyring. It is boxed: as a part of every call that opens a value, it would make
/// their types too deep for the compiler.
type KeyringFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, String>> + Send + 'a>>;

/// Names a key in the keyring. It is stored with the wrap that the key opens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct KeyringItem {
    /// The id of the vault.
    vault: String,
    /// The id of the key.
    item: String,
}

impl KeyringItem {
    /// Returns a new name for a key of this vault.
    pub(crate) fn generate(vault: &str) -> Self {
        Self { vault: vault.to_owned(), item: Uuid::new_v4().simple().to_string() }
    }

    /// Reads the name that is stored with a wrap.
    pub(crate) fn from_parameters(parameters: &str) -> Result<Self, KeyStoreError> {
        serde_json::from_str(parameters).map_err(|_| KeyStoreError::DamagedMaster)
    }

    /// Returns the name as it is stored with a wrap.
    pub(crate) fn to_parameters(&self) -> Result<String, KeyStoreError> {
        serde_json::to_string(self).map_err(|_| KeyStoreError::DamagedMaster)
    }

    /// Reads the key. Fails if the keyring does not answer, and if it has no such key.
    pub(crate) async fn read(&self) -> Result<EncryptionKey, KeyStoreError> {
        let secret = within_limit(Box::pin(secret_service::read(self))).await?;
        let key = secret.and_then(|secret| EncryptionKey::from_bytes(&secret));
        key.ok_or(KeyStoreError::MissingKeyringKey)
    }

    /// Stores a key, and makes sure that it can be read again.
    pub(crate) async fn store(&self, key: &EncryptionKey) -> Result<(), KeyStoreError> {
        within_limit(Box::pin(secret_service::store(self, key.reveal()))).await?;
        if self.read().await? == *key { Ok(()) } else { Err(KeyStoreError::MissingKeyringKey) }
    }

    /// Deletes the key. One that stays behind opens nothing once its wrap is gone.
    pub(crate) async fn delete(&self) {
        if let Err(error) = within_limit(Box::pin(secret_service::delete(self))).await {
            tracing::warn!(%error, "a key that opens nothing any more is still in the keyring");
        }
    }
}

/// Waits for the keyring.
async fn within_limit<T>(asked: KeyringFuture<'_, T>) -> Result<T, KeyStoreError> {
    let answered = tokio::time::timeout(KEYRING_TIMEOUT, asked).await;
    let late = || Err(format!("it did not answer within {} s", KEYRING_TIMEOUT.as_secs()));
    answered.unwrap_or_else(|_| late()).map_err(KeyStoreError::Keyring)
}

#[cfg(target_os = "linux")]
mod secret_service {
    use std::collections::HashMap;

    use ::secret_service::{EncryptionType, Error, SecretService};

    use super::{KeyringItem, Zeroizing};

    const CONTENT_TYPE: &str = "application/octet-stream";

    pub(super) async fn read(item: &KeyringItem) -> Result<Option<Zeroizing<Vec<u8>>>, String> {
        let service = connect().await?;
        let found = service.search_items(attributes(item)).await.map_err(explain)?;
        let Some(entry) = found.unlocked.first().or(found.locked.first()) else { return Ok(None) };
        if entry.is_locked().await.map_err(explain)? {
            entry.unlock().await.map_err(explain)?;
        }
        entry.get_secret().await.map(Zeroizing::new).map(Some).map_err(explain)
    }

    pub(super) async fn store(item: &KeyringItem, key: &[u8]) -> Result<(), String> {
        let service = connect().await?;
        // No other collection will do: some are gone when the session ends.
        let collection = service.get_default_collection().await.map_err(explain)?;
        if collection.is_locked().await.map_err(explain)? {
            collection.unlock().await.map_err(explain)?;
        }
        let attributes = attributes(item);
        let created =
            collection.create_item("Key of Lango's vault", attributes, key, true, CONTENT_TYPE);
        created.await.map(drop).map_err(explain)
    }

    pub(super) async fn delete(item: &KeyringItem) -> Result<(), String> {
        let service = connect().await?;
        let found = service.search_items(attributes(item)).await.map_err(explain)?;
        for entry in found.unlocked.iter().chain(&found.locked) {
            entry.delete().await.map_err(explain)?;
        }
        Ok(())
    }

    /// The key is encrypted on the bus as well, which other programs of the user can listen to.
    async fn connect() -> Result<SecretService<'static>, String> {
        SecretService::connect(EncryptionType::Dh).await.map_err(explain)
    }

    fn attributes(item: &KeyringItem) -> HashMap<&str, &str> {
        HashMap::from([("application", "lango"), ("vault", &*item.vault), ("item", &*item.item)])
    }

    fn explain(error: Error) -> String {
        match error {
            Error::Unavailable => "this session has none, or no D-Bus to reach it".to_owned(),
            Error::NoResult => "it has no default collection".to_owned(),
            Error::Locked | Error::Prompt | Error::PromptDisconnected => {
                "it is locked, and was not unlocked".to_owned()
            }
            other => other.to_string(),
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod secret_service {
    use super::{KeyringItem, Zeroizing};

    const NONE: &str = "Lango knows none on this system";

    pub(super) async fn read(_: &KeyringItem) -> Result<Option<Zeroizing<Vec<u8>>>, String> {
        Err(NONE.to_owned())
    }

    pub(super) async fn store(_: &KeyringItem, _: &[u8]) -> Result<(), String> {
        Err(NONE.to_owned())
    }

    pub(super) async fn delete(_: &KeyringItem) -> Result<(), String> {
        Err(NONE.to_owned())
    }
}
