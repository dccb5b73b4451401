//! This team for agents elsewhere: tasks that are durable turns, over JSON-RPC and HTTP+JSON, and for
//! clients of protocol 0.3.
//!
//! [`A2aDoor`] has the routes. Who is asking is decided before: every request but the one for the
//! public card carries a [`Caller`] in its extensions.

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
mod projection;
mod push;
mod request;
mod rest;
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
use lango_protocol::Caller;
use lango_runtime::Teams;
use lango_store::{Database, Journal, StoreError};
use serde_json::Value;

use crate::signature::CardSigner;
use crate::wire::CARD_PATH;
use crate::wire::error::ProtocolError;
use card::Cards;
use push::Notifier;
use tables::Tables;
use tasks::Tasks;

pub use card::{CardAgent, CardSettings, Exposed, HTTP_PATH, RPC_PATH};
pub use settings::Settings;

/// What a door is made of. The wiring hands it in.
pub struct DoorParts {
    /// Where tasks are kept: the database of the journal.
    pub database: Database,
    /// Which agents a caller reaches.
    pub teams: Arc<dyn Teams>,
    /// Which agents the card shows.
    pub exposed: Arc<dyn Exposed>,
    /// Who this server says that it is.
    pub card: CardSettings,
    /// What signs the card.
    pub signer: Option<CardSigner>,
    /// Where notifications may be sent; without it there are none.
    pub notifications: Option<Guard>,
    /// How it behaves.
    pub settings: Settings,
}

/// The tasks and the card, for the bindings.
pub(crate) struct Door {
    pub(crate) tasks: Arc<Tasks>,
    cards: Cards,
}

impl Door {
    pub(crate) fn extended_card(&self, caller: &Caller) -> Result<Value, ProtocolError> {
        if !self.cards.has_extended() {
            let message = "there is no extended agent card here".to_owned();
            return Err(ProtocolError::UnsupportedOperation(message));
        }
        self.cards.extended(caller).map_err(|_| ProtocolError::Internal)
    }
}

/// The way in for agents elsewhere. Clones share everything.
#[derive(Clone)]
pub struct A2aDoor {
    door: Arc<Door>,
}

impl A2aDoor {
    /// Opens the tables. Tasks that a process left behind are gone on with by [`A2aDoor::resume`].
    pub async fn open(parts: DoorParts) -> Result<Self, StoreError> {
        let journal = Journal::open(parts.database.clone()).await?;
        let tables = Tables::open(parts.database).await?;
        let notifier = parts.notifications.map(Notifier::new);
        let cards = Cards::new(
            parts.card,
            &parts.settings,
            notifier.is_some(),
            parts.exposed,
            parts.signer,
        );
        let tasks = Tasks::new(tables, journal, parts.teams, parts.settings, notifier);
        Ok(Self { door: Arc::new(Door { tasks: Arc::new(tasks), cards }) })
    }

    /// Begins or goes on with what a process that died left behind: turns, and notifications.
    pub async fn resume(&self) -> Result<(), StoreError> {
        self.door.tasks.resume().await?;
        self.door.tasks.resume_telling().await
    }

    /// The routes. All but the card's expect an `Extension<Caller>`.
    pub fn router(&self) -> Router {
        let below = format!("{HTTP_PATH}/{{*path}}");
        Router::new()
            .route(CARD_PATH, get(card))
            .route(RPC_PATH, post(rpc))
            .route(&format!("{RPC_PATH}/"), post(rpc))
            .route(&below, any(rest))
            .with_state(Arc::clone(&self.door))
    }

    /// Ends all streams and stops following turns. Turns that run are interrupted with the process,
    /// and gone on with by the next one.
    pub async fn close(&self) {
        let tasks = &self.door.tasks;
        tasks.closing.cancel();
        tasks.background.close();
        tasks.background.wait().await;
    }
}

async fn card(State(door): State<Arc<Door>>, headers: HeaderMap) -> Response<Body> {
    door.cards.answer(&headers)
}

async fn rpc(
    State(door): State<Arc<Door>>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Response<Body> {
    let (parts, body) = request.into_parts();
    jsonrpc::answer(&door, &caller, &parts.headers, &parts.uri, body).await
}

async fn rest(
    State(door): State<Arc<Door>>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let path = parts.uri.path().strip_prefix(HTTP_PATH).unwrap_or_default().to_owned();
    rest::answer(&door, &caller, &parts.method, &path, &parts.headers, &parts.uri, body).await
}
