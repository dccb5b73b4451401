//! Tools elsewhere, and these agents as tools for others: the MCP protocol in both directions.

pub mod client;
pub mod server;
