//! Makes a key of a passphrase, so that guessing it is costly.

use argon2::{Algorithm, Argon2, Params, Version};
use serde::{Deserialize, Serialize};

use crate::cipher::EncryptionKey;
use crate::secret::fill_random;
use crate::{KeyStoreError, SecretBytes};

const SALT_BYTES: usize = 16;

/// Sets what one guess of a passphrase costs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DerivationCost {
    /// The memory in KiB.
    pub memory_kib: u32,
    /// The number of passes over it.
    pub passes: u32,
}

impl Default for DerivationCost {
    fn default() -> Self {
        Self { memory_kib: 64 * 1024, passes: 3 }
    }
}

/// Says how a key is derived from a passphrase: argon2id with this cost and salt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Derivation {
    cost: DerivationCost,
    salt: [u8; SALT_BYTES],
}

impl Derivation {
    /// Returns a derivation with a new salt.
    pub(crate) fn generate(cost: DerivationCost) -> Result<Self, KeyStoreError> {
        let mut salt = [0; SALT_BYTES];
        fill_random(&mut salt)?;
        Ok(Self { cost, salt })
    }

    /// Returns the key of a passphrase. It takes long, so it runs on a thread of its own.
    pub(crate) async fn derive(
        &self,
        passphrase: &SecretBytes,
    ) -> Result<EncryptionKey, KeyStoreError> {
        let (derivation, passphrase) = (self.clone(), passphrase.clone());
        let derived = tokio::task::spawn_blocking(move || derivation.derive_now(&passphrase)).await;
        derived.map_err(|_| KeyStoreError::Derivation)?
    }

    fn derive_now(&self, passphrase: &SecretBytes) -> Result<EncryptionKey, KeyStoreError> {
        let DerivationCost { memory_kib, passes } = self.cost;
        let params = Params::new(memory_kib, passes, 1, Some(32));
        let params = params.map_err(|_| KeyStoreError::Derivation)?;
        let mut key = EncryptionKey::generate()?;
        Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
            .hash_password_into(passphrase.reveal(), &self.salt, key.reveal_mut())
            .map_err(|_| KeyStoreError::Derivation)?;
        Ok(key)
    }
}
