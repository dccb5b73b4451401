//! Encrypts and decrypts with XChaCha20-Poly1305.

use std::fmt;

use chacha20poly1305::aead::{Aead as _, KeyInit as _, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use zeroize::Zeroizing;

use crate::secret::fill_random;
use crate::{KeyStoreError, SecretBytes};

/// Names the format of what is sealed; its first byte.
const FORMAT: u8 = 1;
const NONCE_BYTES: usize = 24;

/// Holds a key of 32 bytes. It is erased when it is dropped, and never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct EncryptionKey(Zeroizing<[u8; 32]>);

impl EncryptionKey {
    /// Returns a new random key.
    pub fn generate() -> Result<Self, KeyStoreError> {
        let mut key = Zeroizing::new([0; 32]);
        fill_random(&mut *key)?;
        Ok(Self(key))
    }

    /// Takes a key of 32 bytes; none if these are not as many.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Some(Self(Zeroizing::new(bytes.try_into().ok()?)))
    }

    /// Returns the key. The caller must not keep, log or show it.
    pub fn reveal(&self) -> &[u8; 32] {
        &self.0
    }

    pub(crate) fn reveal_mut(&mut self) -> &mut [u8; 32] {
        &mut self.0
    }
}

impl fmt::Debug for EncryptionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EncryptionKey")
    }
}

/// Encrypts a value. It can be decrypted only together with the same `identity`.
pub fn seal(key: &EncryptionKey, identity: &[u8], value: &[u8]) -> Result<Vec<u8>, KeyStoreError> {
    let mut nonce = [0; NONCE_BYTES];
    fill_random(&mut nonce)?;
    let cipher = XChaCha20Poly1305::new(key.reveal().into());
    let payload = Payload { msg: value, aad: identity };
    let sealed = cipher.encrypt(&XNonce::from(nonce), payload);
    let sealed = sealed.map_err(|_| KeyStoreError::TooLarge)?;
    Ok([&[FORMAT], nonce.as_slice(), &sealed].concat())
}

/// Decrypts what [`seal`] returned. None if the key, the identity or a single bit is another.
pub fn open_sealed(key: &EncryptionKey, identity: &[u8], sealed: &[u8]) -> Option<SecretBytes> {
    let (&format, rest) = sealed.split_first()?;
    let (nonce, sealed) = rest.split_at_checked(NONCE_BYTES)?;
    if format != FORMAT {
        return None;
    }
    let nonce: [u8; NONCE_BYTES] = nonce.try_into().ok()?;
    let cipher = XChaCha20Poly1305::new(key.reveal().into());
    let payload = Payload { msg: sealed, aad: identity };
    cipher.decrypt(&XNonce::from(nonce), payload).ok().map(SecretBytes::new)
}

/// Writes texts so that no two lists of texts give the same bytes.
pub(crate) fn join_identity(parts: &[&str]) -> Vec<u8> {
    let mut identity = Vec::new();
    for part in parts {
        identity.extend_from_slice(&(part.len() as u64).to_le_bytes());
        identity.extend_from_slice(part.as_bytes());
    }
    identity
}
