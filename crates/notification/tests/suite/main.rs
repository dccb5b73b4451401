//! Tests channels against what they talk to: a bus, and nothing.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod desktop;
