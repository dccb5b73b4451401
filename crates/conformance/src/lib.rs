//! Programs that the protocols' own test suites talk to. No part of the product.
//!
//! | program | for |
//! |---|---|
//! | `lango-a2a-kit-server` | the test kit of A2A: a team whose model is a script |
//! | `lango-mcp-conformance-server` | the suite of MCP, which calls what it wants to find at a server |
//! | `lango-mcp-conformance-client` | the same suite, which serves what a client should call |
//!
//! Listener, checks of access and endpoints are those of `lango serve`, and the client is the one that
//! agents use, so what a suite says about them holds for the product.

mod a2a_kit;
mod mcp_client;
mod mcp_server;
mod program;
mod serve;

pub use a2a_kit::serve_a2a_kit;
pub use mcp_client::play_mcp_client;
pub use mcp_server::serve_mcp;
pub use program::{ServerArguments, run};
