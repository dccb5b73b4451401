//! Makes signatures, as providers put them on reasoning and calls.

use std::hash::{BuildHasher, RandomState};

use base64::Engine as _;
use lango_model::Wire;

/// Makes signatures that only the same server recognises, on the same API and for the same text.
#[derive(Debug, Default)]
pub(super) struct Signatures {
    secret: RandomState,
}

impl Signatures {
    /// Signs a text: a thought, or the name of a call.
    pub(super) fn sign(&self, wire: Wire, words: &str) -> String {
        let first = self.secret.hash_one((wire as u8, words));
        let second = self.secret.hash_one((first, words));
        let bytes: Vec<u8> = [first, second].into_iter().flat_map(u64::to_be_bytes).collect();
        base64::engine::general_purpose::STANDARD.encode(bytes)
    }

    /// Tells whether this server made the signature for this text.
    pub(super) fn recognises(&self, wire: Wire, words: &str, signature: &str) -> bool {
        self.sign(wire, words) == signature
    }
}
