//! Serves this team over A2A: tasks are durable turns, over JSON-RPC and HTTP+JSON, also for
//! clients of protocol 0.3.
//!
//! [`A2aEndpoint`] has the routes. Authentication happens before: every request except the one for
//! the public card carries a [`Caller`] in its extensions.

mod answer;
mod card;
mod clock;
mod drive;
mod incoming;
mod jsonrpc;
mod legacy;
mod list;
mod live;
mod notifications;
mod notifier;
mod projection;
mod push;
mod request;
mod rest;
mod resume;
mod send;
mod settings;
mod sse;
mod stream;
mod tables;
mod tasks;
mod words;

use std::sync::Arc;

use axum::Extension;
use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Response};
use axum::routing::{any, get, post};
use lango_egress::Guard;
use lango_keystore::{KeyStore, KeyStoreError};
use lango_protocol::Caller;
use lango_runtime::Teams;
use lango_store::{Database, Journal, StoreError};
use serde_json::Value;

use crate::signature::CardSigner;
use crate::wire::CARD_PATH;
use crate::wire::error::ProtocolError;
use card::Cards;
use notifier::Notifier;
use tables::TaskTables;
use tasks::Tasks;

pub use card::{CardAgent, CardSettings, ExposedAgents, HTTP_PATH, RPC_PATH};
pub use settings::Settings;
pub(crate) use tables::COMPONENT;

/// The parts of an endpoint. The application provides them.
pub struct A2aEndpointParts {
    /// The database of the journal, which also stores the tasks.
    pub database: Database,
    /// The vault, whose key encrypts the credentials of notifications.
    pub key_store: KeyStore,
    /// The agents that a caller reaches.
    pub teams: Arc<dyn Teams>,
    /// The agents that the card shows.
    pub exposed: Arc<dyn ExposedAgents>,
    /// The description of this server on its card.
    pub card: CardSettings,
    /// The signer of the card.
    pub signer: Option<CardSigner>,
    /// The addresses that notifications may be sent to; without it, no notifications are sent.
    pub notifications: Option<Guard>,
    /// The server's limits and options.
    pub settings: Settings,
}

/// The tasks and the card, shared by the bindings.
pub(crate) struct EndpointState {
    pub(crate) tasks: Arc<Tasks>,
    cards: Cards,
}

impl EndpointState {
    pub(crate) fn extended_card(&self, caller: &Caller) -> Result<Value, ProtocolError> {
        if !self.cards.has_extended() {
            let message = "there is no extended agent card here".to_owned();
            return Err(ProtocolError::UnsupportedOperation(message));
        }
        self.cards.build_extended(caller).map_err(tasks::internal_error)
    }
}

/// Encrypts the credentials of push notifications that an earlier version stored in plain text, and
/// erases them from the files of the database. Returns their number.
pub async fn seal_plain_credentials(
    database: &Database,
    store: &KeyStore,
) -> Result<usize, KeyStoreError> {
    TaskTables::open(database.clone(), store.clone()).await?.seal_plain_proofs().await
}

/// Serves A2A to remote agents and other clients. Clones share all state.
#[derive(Clone)]
pub struct A2aEndpoint {
    endpoint: Arc<EndpointState>,
}

impl A2aEndpoint {
    /// Opens the tables. [`A2aEndpoint::resume_unfinished`] continues tasks that another process left
    /// unfinished.
    pub async fn open(parts: A2aEndpointParts) -> Result<Self, KeyStoreError> {
        let journal = Journal::open(parts.database.clone()).await?;
        let tables = TaskTables::open(parts.database, parts.key_store).await?;
        let notifier = parts.notifications.map(Notifier::new);
        let cards = Cards::new(
            parts.card,
            &parts.settings,
            notifier.is_some(),
            parts.exposed,
            parts.signer,
        );
        let tasks = Tasks::new(tables, journal, parts.teams, parts.settings, notifier);
        Ok(Self { endpoint: Arc::new(EndpointState { tasks: Arc::new(tasks), cards }) })
    }

    /// Starts or continues the turns and notifications that a dead process left unfinished.
    pub async fn resume_unfinished(&self) -> Result<(), StoreError> {
        self.endpoint.tasks.resume_unfinished().await?;
        self.endpoint.tasks.resume_notifications().await
    }

    /// Cancels the tasks of a caller that has no access any more, also those that wait for its
    /// answer.
    pub async fn cancel_tasks_of(&self, caller: &Caller) -> Result<(), StoreError> {
        self.endpoint.tasks.cancel_tasks_of(caller).await
    }

    /// Returns the routes. All but the card's expect an `Extension<Caller>`.
    pub fn router(&self) -> Router {
        let below = format!("{HTTP_PATH}/{{*path}}");
        Router::new()
            .route(CARD_PATH, get(serve_card))
            .route(RPC_PATH, post(serve_rpc))
            .route(&format!("{RPC_PATH}/"), post(serve_rpc))
            .route(&below, any(serve_rest))
            .with_state(Arc::clone(&self.endpoint))
    }

    /// Ends all streams and stops following turns. Running turns are interrupted with the process,
    /// and the next process continues them.
    pub async fn close(&self) {
        let tasks = &self.endpoint.tasks;
        tasks.closing.cancel();
        tasks.background.close();
        tasks.background.wait().await;
    }
}

async fn serve_card(
    State(endpoint): State<Arc<EndpointState>>,
    headers: HeaderMap,
) -> Response<Body> {
    endpoint.cards.serve_public_card(&headers)
}

async fn serve_rpc(
    State(endpoint): State<Arc<EndpointState>>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Response<Body> {
    let (parts, body) = request.into_parts();
    jsonrpc::answer_rpc(&endpoint, &caller, &parts.headers, &parts.uri, body).await
}

async fn serve_rest(
    State(endpoint): State<Arc<EndpointState>>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path().strip_prefix(HTTP_PATH).unwrap_or_default().to_owned();
    rest::answer_rest(&endpoint, &caller, &parts.method, &path, &parts.headers, &parts.uri, body)
        .await
}
