//! Implements MCP in both directions: the client uses tools of MCP servers, the server offers this
//! team to MCP clients.

pub mod client;
pub mod server;

/// The parts of the database's schema that this crate owns.
pub const SCHEMA_COMPONENTS: &[lango_store::SchemaComponent] =
    &[client::ENTRIES_COMPONENT, client::SERVERS_COMPONENT];
