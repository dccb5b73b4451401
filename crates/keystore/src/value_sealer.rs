//! Encrypts values that are stored in tables of other crates.
//!
//! A table that keeps credentials beside other columns needs them in the transaction of its row. Their
//! key is an entry of the vault: a locked vault opens none of them.

use std::borrow::Cow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::cipher::{EncryptionKey, join_identity, open_sealed, seal};
use crate::{Actor, EntryAttributes, EntryKind, EntryName, KeyStore, KeyStoreError, SecretBytes};

const KIND: EntryKind = EntryKind::Credential;

/// Encrypts the values of one table. Clones share the key, which is created with the first value.
#[derive(Debug, Clone)]
pub struct ValueSealer {
    store: KeyStore,
    name: EntryName,
    /// True once this process has recorded that it uses the key.
    is_recorded: Arc<AtomicBool>,
}

impl ValueSealer {
    /// Returns a sealer whose key is the credential of this name.
    pub fn new(store: KeyStore, name: EntryName) -> Self {
        Self { store, name, is_recorded: Arc::default() }
    }

    /// Encrypts a value. It can be decrypted only together with the same identity of its row.
    pub async fn seal(&self, row: &[&str], value: &SecretBytes) -> Result<Vec<u8>, KeyStoreError> {
        let key = match self.read_key().await {
            Err(KeyStoreError::NotFound { .. }) => self.create_key().await?,
            key => key?,
        };
        seal(&key, &self.identity(row), value.reveal())
    }

    /// Decrypts a value. Fails if it was changed, or belongs to another row.
    pub async fn open(&self, row: &[&str], sealed: &[u8]) -> Result<SecretBytes, KeyStoreError> {
        let key = self.read_key().await?;
        open_sealed(&key, &self.identity(row), sealed).ok_or_else(|| self.damaged())
    }

    /// Tells whether a value that the vault knows is in these bytes, in one of the forms that are looked
    /// for.
    pub fn finds_secret(&self, bytes: &[u8]) -> bool {
        let text = String::from_utf8_lossy(bytes);
        matches!(self.store.inner.settings.scrubber.scrub(&text), Cow::Owned(_))
    }

    async fn read_key(&self) -> Result<EncryptionKey, KeyStoreError> {
        let value = if self.is_recorded.load(Ordering::Relaxed) {
            self.store.read_credential(&self.name).await?
        } else {
            let actor = Actor::command("lango").with_purpose("stored credentials");
            let value = self.store.open_value(KIND, &self.name, &actor).await?;
            self.is_recorded.store(true, Ordering::Relaxed);
            value
        };
        EncryptionKey::from_bytes(value.reveal()).ok_or_else(|| self.damaged())
    }

    async fn create_key(&self) -> Result<EncryptionKey, KeyStoreError> {
        let value = SecretBytes::random(32)?;
        let (attributes, actor) = (EntryAttributes::default(), Actor::command("lango"));
        match self.store.create(KIND, &self.name, &value, attributes, &actor).await {
            // Another process was faster; its key is the one.
            Ok(_) | Err(KeyStoreError::Exists { .. }) => self.read_key().await,
            Err(error) => Err(error),
        }
    }

    fn identity(&self, row: &[&str]) -> Vec<u8> {
        join_identity(&[&["value", self.name.as_str()], row].concat())
    }

    fn damaged(&self) -> KeyStoreError {
        KeyStoreError::Damaged { kind: KIND, name: self.name.clone() }
    }
}
