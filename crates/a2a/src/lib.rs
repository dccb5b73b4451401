//! Implements the A2A protocol in both directions: remote agents as members of this team, and this
//! team as a server for remote agents.
//!
//! [`server`] exposes this team to clients, [`remote`] adds remote agents to this team, [`wire`]
//! holds what both directions need on the wire in addition to the official types, and [`signature`]
//! signs and verifies agent cards. Listening, authentication and configuration are left to the
//! users of this crate.

pub mod remote;
pub mod server;
pub mod signature;
pub mod wire;

/// The parts of the database's schema that this crate owns.
pub const SCHEMA_COMPONENTS: &[lango_store::SchemaComponent] =
    &[server::COMPONENT, remote::COMPONENT];
