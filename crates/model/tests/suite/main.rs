//! Tests the provider APIs end to end: our client against servers that follow them well and badly.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod client;
mod cut;
mod forms;
mod hearing;
mod indexes;
mod list;
mod quirks;
mod raw_server;
mod scripted;
mod speech;
