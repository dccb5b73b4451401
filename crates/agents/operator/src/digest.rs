//! Computes SHA-256 digests in hexadecimal.

use sha2::{Digest as _, Sha256};

/// Returns the SHA-256 digest of some bytes in hexadecimal.
pub(crate) fn of(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// Formats bytes in hexadecimal.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
