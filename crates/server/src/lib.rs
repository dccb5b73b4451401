//! Serves all endpoints over HTTP: A2A, the OpenAI API, MCP and health, with one authentication.
//!
//! Use this to let programs talk to the team. [`AccessControl`] decides which caller may use which
//! endpoint; [`Listener`] accepts connections within limits; [`combine_routes`] combines the endpoints. The
//! runtime interprets messages, and the application decides which agents a caller may use.

mod access;
mod callers;
mod connections;
mod endpoint_kind;
mod gate;
mod health;
mod listener;
mod openai;
mod refusal;
mod revocable_stream;
mod routes;
mod stall_timeout;
mod token;
mod token_throttle;
mod turn_quota;

pub use access::{AccessControl, AccessParts};
pub use callers::{CallerRecord, Callers, CallersError, RevokedToken};
pub use endpoint_kind::EndpointKind;
pub use gate::HostGate;
pub use listener::{Listener, ListenerError};
pub use openai::{OpenAiEndpoint, OpenAiParts};
pub use routes::{Endpoints, combine_routes};
pub use token::{CallerToken, TokenError};

/// The parts of the database's schema that this crate owns.
pub const SCHEMA_COMPONENTS: &[lango_store::SchemaComponent] =
    &[callers::COMPONENT, openai::CONVERSATIONS_COMPONENT, openai::KEYS_COMPONENT];
