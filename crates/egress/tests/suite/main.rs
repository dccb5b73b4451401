//! Tests the outbound network policy through the public API.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod channel;
mod client;
mod forms;
mod guard;
mod http;
mod proxy;
mod support;
