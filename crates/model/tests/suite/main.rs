//! The OpenAI wire, end to end: our client against servers that speak it well and badly.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod client;
mod raw_server;
