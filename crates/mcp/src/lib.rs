//! Implements MCP in both directions: the client uses tools of MCP servers, the server offers this
//! team to MCP clients.

pub mod client;
pub mod server;
