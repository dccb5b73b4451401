//! Tools, resources and prompts of servers elsewhere.
//!
//! [`Servers`] is the front door: it knows every configured server, what was agreed to of each
//! ([`Catalogue`]), and makes tools of it. A server is a stranger: what it says is data, what it
//! asks for goes to a person, and what it does too much of ends the connection.

mod catalogue;
mod check;
mod child;
mod conduct;
mod config;
mod conversation;
mod error;
mod expand;
mod folded;
mod http;
mod json;
mod lines;
mod link;
mod naming;
mod oauth;
mod person;
mod pin;
mod reading;
mod result;
mod sampling;
mod server;
mod servers;
mod tool;

use std::path::PathBuf;
use std::sync::Arc;

use lango_egress::Rules;
use lango_model::Model;

pub use catalogue::{Catalogue, KnownServer, KnownTool, ToolState};
pub use child::Surroundings;
pub use config::{
    HttpConfig, OauthConfig, SamplingBudget, ServerConfig, ServerName, Source, StdioConfig,
    TransportConfig,
};
pub use error::ClientError;
pub use expand::expand;
pub use json::{FoundEntry, JsonEntry, LONGEST_FILE, read_servers};
pub use naming::tool_name;
pub use oauth::{Login, is_signed_in, logout};
pub use person::{AnswerFuture, Field, Filled, Form, Nobody, Person};
pub use pin::ToolVersion;
pub use reading::{Introduction, PromptView, ResourceView};
pub use server::Server;
pub use servers::{Offer, Servers};

/// What servers are surrounded by, and whom their questions reach.
pub struct Outside {
    /// Where programs run.
    pub surroundings: Surroundings,
    /// Which addresses may be reached.
    pub rules: Rules,
    /// The directory of the tokens.
    pub tokens: PathBuf,
    /// Who answers questions.
    pub person: Arc<dyn Person>,
    /// The model that a server may ask for, as far as it was allowed to.
    pub model: Option<Arc<dyn Model>>,
}
