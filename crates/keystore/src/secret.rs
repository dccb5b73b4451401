//! Holds values that are erased from memory when they are dropped.

use std::fmt;

use ring::rand::{SecureRandom as _, SystemRandom};
use zeroize::Zeroizing;

use crate::KeyStoreError;

/// Holds a secret value. It is erased when it is dropped, and never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct SecretBytes(Zeroizing<Vec<u8>>);

impl SecretBytes {
    /// Takes a value.
    pub fn new(value: Vec<u8>) -> Self {
        Self(Zeroizing::new(value))
    }

    /// Returns `count` random bytes.
    pub fn random(count: usize) -> Result<Self, KeyStoreError> {
        let mut value = Zeroizing::new(vec![0; count]);
        fill_random(&mut value)?;
        Ok(Self(value))
    }

    /// Returns the value. The caller must not keep, log or show it.
    pub fn reveal(&self) -> &[u8] {
        &self.0
    }

    /// Returns the value as text, if it is one. The caller must not keep, log or show it.
    pub fn reveal_text(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }

    /// Returns how many bytes the value has.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Tells whether the value is empty.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl From<String> for SecretBytes {
    fn from(value: String) -> Self {
        Self::new(value.into_bytes())
    }
}

impl fmt::Debug for SecretBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretBytes({} bytes)", self.0.len())
    }
}

/// Fills a buffer with random bytes of the system.
pub(crate) fn fill_random(buffer: &mut [u8]) -> Result<(), KeyStoreError> {
    SystemRandom::new().fill(buffer).map_err(|_| KeyStoreError::NoRandomness)
}
