//! The librarian's parts, from the outside.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]
mod reading;
