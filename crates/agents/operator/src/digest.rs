//! SHA-256 as people read it.

use sha2::{Digest as _, Sha256};

/// The digest of some bytes, in hexadecimal.
pub(crate) fn of(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

/// Bytes in hexadecimal.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
