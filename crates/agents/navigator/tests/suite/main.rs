//! Tests the navigator's tools through their public interface, with a real Chromium and sites on
//! this machine.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "clippy knows tests by their attribute, not their helpers"
)]

mod acting;
mod guarding;
mod living;
mod reading;
mod reporting;
mod site;
mod support;
