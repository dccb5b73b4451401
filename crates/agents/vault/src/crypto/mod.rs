//! The tools for cryptography. Keys stay in the vault; models get digests, signatures and paths.

mod age_stream;
mod create_key;
mod decrypt;
mod encrypt;
mod hash;
mod keys;
mod sealed_stream;
mod sign;
mod source;
mod verify;

pub(crate) use create_key::CreateKey;
pub use create_key::{KeyKind, create_key};
pub(crate) use decrypt::Decrypt;
pub(crate) use encrypt::Encrypt;
pub(crate) use hash::HashData;
pub(crate) use keys::ListKeys;
pub(crate) use sign::Sign;
pub(crate) use verify::Verify;

/// Names the key that encrypts where no other is named; it is created at its first use.
pub(crate) const DEFAULT_KEY: &str = "default";
