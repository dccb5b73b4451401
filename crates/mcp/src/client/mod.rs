//! Implements the MCP client: the tools, resources and prompts of MCP servers.
//!
//! [`Servers`] is the entry point: it holds every configured server and what was approved of each
//! ([`KnownServers`]), and provides their tools. Servers are untrusted: their texts are data, their
//! questions go to a person, and too many messages end the connection.

mod check;
mod child;
mod conduct;
mod config;
mod conversation;
mod entry_approvals;
mod error;
mod expand;
mod folded;
mod http;
mod json;
mod known_servers;
mod lines;
mod link;
mod naming;
mod oauth;
mod person;
mod pin;
mod project_entry;
mod reading;
mod result;
mod sampling;
mod server;
mod server_home;
mod servers;
mod tokens;
mod tool;

use std::sync::Arc;

use lango_egress::Rules;
use lango_keystore::KeyStore;
use lango_model::Model;

pub use child::ProcessEnvironment;
pub use config::{
    ConfigSource, HttpConfig, OauthConfig, SamplingBudget, ServerConfig, ServerName, StdioConfig,
    TransportConfig,
};
pub(crate) use entry_approvals::COMPONENT as ENTRIES_COMPONENT;
pub use entry_approvals::EntryState;
pub use error::ClientError;
pub use expand::{ExpandError, expand};
pub use json::{JsonEntry, MAX_SERVER_FILE_BYTES, ParsedEntry, read_servers};
pub(crate) use known_servers::COMPONENT as SERVERS_COMPONENT;
pub use known_servers::{KnownServer, KnownServers, KnownTool, ToolState};
pub use naming::tool_name;
pub use oauth::{Login, is_signed_in, logout};
pub use person::{AnswerFuture, Field, Form, FormAnswers, NoPerson, Person};
pub use pin::ToolVersion;
pub use project_entry::ProjectEntry;
pub use reading::{PromptView, ResourceView, ServerDescription};
pub use server::Server;
pub use server_home::{delete_home, server_home};
pub use servers::{Servers, ToolOffer};
pub use tokens::move_token_files;

/// Holds what all servers share: the limits of programs and addresses, the tokens, and who answers
/// questions.
pub struct ClientEnvironment {
    /// The environment of programs.
    pub process_environment: ProcessEnvironment,
    /// The rules for addresses that may be reached.
    pub rules: Rules,
    /// The vault, which keeps the tokens.
    pub key_store: KeyStore,
    /// The person who answers questions.
    pub person: Arc<dyn Person>,
    /// The model that servers may use, as far as the user allowed it.
    pub model: Option<Arc<dyn Model>>,
}
