//! Implements the OpenAI API: `/v1/chat/completions` and `/v1/models`, with the whole team as one
//! model.
//!
//! The API is stateless and the team is not: `conversations` finds the session that a request
//! continues. The steps of the team are in an extension field; the answer is plain text.

mod completions;
mod content;
mod conversations;
mod error;
mod history;
mod keys;
mod models;
mod parameters;
mod request;
mod stream;
mod turn;
mod turn_summary;
mod wire;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use lango_runtime::Teams;
use lango_store::{Database, Journal, StoreError};
use tokio_util::sync::CancellationToken;

use crate::turn_quota::TurnQuota;
pub(crate) use conversations::COMPONENT as CONVERSATIONS_COMPONENT;
use conversations::Conversations;
pub(crate) use keys::COMPONENT as KEYS_COMPONENT;
use keys::IdempotencyKeys;

/// Holds the parts of the endpoint.
pub struct OpenAiParts {
    /// The team of each caller.
    pub teams: Arc<dyn Teams>,
    /// The database of conversations and keys.
    pub database: Database,
    /// The journal of turns.
    pub journal: Journal,
    /// Is cancelled when the server shuts down; open streams then end with an error.
    pub closing: CancellationToken,
}

/// Serves the OpenAI API.
#[derive(Clone)]
pub struct OpenAiEndpoint {
    shared: Arc<EndpointState>,
}

struct EndpointState {
    teams: Arc<dyn Teams>,
    journal: Journal,
    conversations: Conversations,
    keys: IdempotencyKeys,
    quota: TurnQuota,
    closing: CancellationToken,
    /// The start time of the server, reported as the creation time of its model.
    created: i64,
}

impl OpenAiEndpoint {
    /// Opens the endpoint and migrates its tables.
    pub async fn open(parts: OpenAiParts) -> Result<Self, StoreError> {
        let shared = EndpointState {
            teams: parts.teams,
            journal: parts.journal,
            conversations: Conversations::open(parts.database.clone()).await?,
            keys: IdempotencyKeys::open(parts.database).await?,
            quota: TurnQuota::default(),
            closing: parts.closing,
            created: wire::epoch_seconds(lango_protocol::Timestamp::now()),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    pub(crate) fn router(&self) -> Router {
        Router::new()
            .route("/v1/chat/completions", post(completions::serve_completion))
            .route("/v1/models", get(models::list_models))
            // A model name may contain a slash.
            .route("/v1/models/{*model}", get(models::show_model))
            .with_state(Arc::clone(&self.shared))
    }
}
