//! Computes SHA-256 digests in hexadecimal.

use lango_text::hex;
use sha2::{Digest as _, Sha256};

/// Returns the SHA-256 digest of some bytes in hexadecimal.
pub(crate) fn sha256_hex(bytes: &[u8]) -> String {
    hex(Sha256::digest(bytes))
}
