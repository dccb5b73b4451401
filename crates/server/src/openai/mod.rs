//! The OpenAI wire: `/v1/chat/completions` and `/v1/models`, with the whole team as one model.
//!
//! The wire is stateless and the team is not: `conversations` finds the session that a request goes
//! on with. What the team does on the way is `steps` in an extension field; the answer is plain text.

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
mod telling;
mod turn;
mod wire;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use lango_runtime::Teams;
use lango_store::{Database, Journal, StoreError};
use tokio_util::sync::CancellationToken;

use crate::room::Room;
use conversations::Conversations;
use keys::Keys;

/// What the door is made of.
pub struct OpenAiParts {
    /// Whom each caller talks to.
    pub teams: Arc<dyn Teams>,
    /// Where conversations are recognised.
    pub database: Database,
    /// Where turns are.
    pub journal: Journal,
    /// The server ends: streams that are left say so.
    pub closing: CancellationToken,
}

/// The OpenAI wire.
#[derive(Clone)]
pub struct OpenAiDoor {
    shared: Arc<Shared>,
}

struct Shared {
    teams: Arc<dyn Teams>,
    journal: Journal,
    conversations: Conversations,
    keys: Keys,
    room: Room,
    closing: CancellationToken,
    /// When the server began, which is as old as its one model is.
    created: i64,
}

impl OpenAiDoor {
    /// Brings its tables up to date.
    pub async fn open(parts: OpenAiParts) -> Result<Self, StoreError> {
        let shared = Shared {
            teams: parts.teams,
            journal: parts.journal,
            conversations: Conversations::open(parts.database.clone()).await?,
            keys: Keys::open(parts.database).await?,
            room: Room::default(),
            closing: parts.closing,
            created: wire::seconds(lango_protocol::Timestamp::now()),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    pub(crate) fn router(&self) -> Router {
        Router::new()
            .route("/v1/chat/completions", post(completions::complete))
            .route("/v1/models", get(models::list))
            // A model's name may have a slash in it, as a client may well try.
            .route("/v1/models/{*model}", get(models::show))
            .with_state(Arc::clone(&self.shared))
    }
}
