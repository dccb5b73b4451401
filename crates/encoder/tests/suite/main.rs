//! Tests the public API of the encoder: its tokens and vectors beside those of the published model.
//!
//! `data/` holds what other programs computed: the tokens by the Python library `tokenizers` 0.23.3
//! with `encode_special_tokens` set, the similarities and vectors by a 32-bit forward pass in
//! `numpy` over the published weights.

#![expect(clippy::unwrap_used, reason = "a test may stop where it fails")]

mod tokens;
mod vectors;
