//! Tests the vault's tools as the runtime calls them.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod crypto;
mod fixture;
mod secrets;
