//! The protocols' own test suites, and a look at the programs that they talk to.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test fails by panicking")]
#![expect(clippy::disallowed_methods, reason = "a test talks to servers that it started")]

mod a2a_kit;
mod mcp_client;
mod mcp_server;
mod peers;
mod running;
