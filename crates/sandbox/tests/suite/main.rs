//! Tests the sandbox through its public API: a job in, and what it could and could not do.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "clippy knows tests by their attribute, not their helpers"
)]

mod ending;
mod files;
mod limits;
mod network;
mod planted;
mod privileges;
mod protected;
mod reading;
mod refusal;
mod rights;
mod workspace;
