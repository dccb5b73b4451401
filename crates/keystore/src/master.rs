//! Wraps and unwraps the master key.

use std::fmt;

use lango_protocol::Timestamp;
use uuid::Uuid;

use crate::KeyStoreError;
use crate::cipher::{EncryptionKey, join_identity, open_sealed, seal};
use crate::state::{VaultState, Wrap, WrapKind};

/// The key that encrypts the keys of the values.
#[derive(Clone)]
pub(crate) struct MasterKey {
    pub(crate) key: EncryptionKey,
    /// Its number.
    pub(crate) generation: i64,
}

impl fmt::Debug for MasterKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "MasterKey({})", self.generation)
    }
}

/// Says how a master key is to be wrapped.
pub(crate) struct WrapPlan<'a> {
    pub(crate) vault: &'a str,
    pub(crate) kind: WrapKind,
    pub(crate) parameters: String,
    pub(crate) expires_at: Option<Timestamp>,
}

impl MasterKey {
    /// Returns the first master key of a new vault.
    pub(crate) fn generate(generation: i64) -> Result<Self, KeyStoreError> {
        Ok(Self { key: EncryptionKey::generate()?, generation })
    }

    /// Encrypts the master key with a key.
    pub(crate) fn wrap(
        &self,
        by: &EncryptionKey,
        plan: WrapPlan<'_>,
    ) -> Result<Wrap, KeyStoreError> {
        let WrapPlan { vault, kind, parameters, expires_at } = plan;
        let id = Uuid::new_v4().simple().to_string();
        let identity = wrap_identity(vault, kind, self.generation, &id);
        let wrapped = seal(by, &identity, self.key.reveal())?;
        let generation = self.generation;
        Ok(Wrap { id, kind, generation, parameters, wrapped, expires_at })
    }
}

impl Wrap {
    /// Decrypts the master key with a key; none if it is not the key that wrapped it.
    pub(crate) fn unwrap_with(&self, by: &EncryptionKey, state: &VaultState) -> Option<MasterKey> {
        let identity = wrap_identity(&state.vault, self.kind, self.generation, &self.id);
        let key = open_sealed(by, &identity, &self.wrapped)?;
        let key = EncryptionKey::from_bytes(key.reveal())?;
        Some(MasterKey { key, generation: self.generation })
    }
}

fn wrap_identity(vault: &str, kind: WrapKind, generation: i64, id: &str) -> Vec<u8> {
    join_identity(&["wrap", vault, kind.as_str(), &generation.to_string(), id])
}
