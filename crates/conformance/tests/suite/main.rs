//! The protocols' own test suites, and a look at the programs that they talk to.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]

mod a2a_kit;
mod mcp_client;
mod mcp_server;
mod peers;
mod running;
