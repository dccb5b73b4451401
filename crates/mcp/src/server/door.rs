//! MCP over streamable HTTP: connections that belong to a caller.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use axum::routing::any;
use axum::{Extension, Json};
use lango_protocol::Caller;
use lango_runtime::Teams;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use super::team_server::Endings;
use super::{Offers, TeamServer};

/// Connections of one caller. One more closes the one that was used least lately.
const CONNECTIONS: usize = 64;
/// A connection that nothing happens on for so long is closed. Longer than a question for the owner
/// waits.
const IDLE: Duration = Duration::from_hours(2);
/// What connections are known by.
const SESSION: &str = "mcp-session-id";

/// What the door is made of.
pub struct McpParts {
    /// Whom each caller talks to.
    pub teams: Arc<dyn Teams>,
    /// Which tools it may call itself.
    pub offers: Arc<dyn Offers>,
    /// The server ends: so do connections.
    pub closing: CancellationToken,
}

/// MCP over HTTP, at `/mcp`.
pub struct McpDoor {
    router: Router,
}

impl McpDoor {
    /// Puts the parts together.
    pub fn new(parts: McpParts) -> Self {
        let McpParts { teams, offers, closing } = parts;
        let endings = Endings { closing: closing.clone(), ..Endings::default() };
        let router = door_for(closing, move |caller| {
            TeamServer::new(caller.clone(), Arc::clone(&teams), Arc::clone(&offers))
                .ending(endings.clone())
        });
        Self { router }
    }

    /// Its routes. Every request must carry the `Caller` as an extension.
    pub fn router(&self) -> Router {
        self.router.clone()
    }
}

/// Makes what serves a connection of a caller.
pub trait ServesCaller<H>: Fn(&Caller) -> H + Send + Sync + 'static {}

impl<H, F: Fn(&Caller) -> H + Send + Sync + 'static> ServesCaller<H> for F {}

/// The routes of a door whose connections are served by what `serves` makes.
pub fn door_for<H: ServerHandler>(
    closing: CancellationToken,
    serves: impl ServesCaller<H>,
) -> Router {
    let door = Arc::new(Door { serves: Arc::new(serves), closing, desks: Mutex::default() });
    Router::new().route("/mcp", any(handle::<H>)).with_state(door)
}

struct Door<H> {
    serves: Arc<dyn ServesCaller<H>>,
    closing: CancellationToken,
    /// What serves each caller. Connections of one are not known to the others, whatever id they
    /// say. A lock that is held to look one up, or to make it.
    desks: Mutex<HashMap<Caller, Arc<Desk<H>>>>,
}

/// What serves one caller.
struct Desk<H> {
    service: StreamableHttpService<H, LocalSessionManager>,
    connections: Arc<LocalSessionManager>,
    /// When each connection was last used. A lock that is held for one look-up.
    used: Mutex<HashMap<String, Instant>>,
}

impl<H: ServerHandler> Door<H> {
    fn desk(&self, caller: &Caller) -> Arc<Desk<H>> {
        let mut desks = self.desks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(desk) = desks.get(caller) {
            return Arc::clone(desk);
        }
        let mut connections = LocalSessionManager::default();
        connections.session_config.keep_alive = Some(IDLE);
        let connections = Arc::new(connections);
        let (serves, who) = (Arc::clone(&self.serves), caller.clone());
        // Who may ask was checked before, for all doors alike.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_cancellation_token(self.closing.child_token());
        let service =
            StreamableHttpService::new(move || Ok(serves(&who)), Arc::clone(&connections), config);
        let desk = Arc::new(Desk { service, connections, used: Mutex::default() });
        desks.insert(caller.clone(), Arc::clone(&desk));
        desk
    }
}

impl<H> Desk<H> {
    fn touch(&self, connection: &str) {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = used.get_mut(connection) {
            *at = Instant::now();
        }
    }

    /// Notes a new connection; the one that has to go for it, if any.
    fn begin(&self, connection: &str) -> Option<String> {
        let mut used = self.used.lock().unwrap_or_else(PoisonError::into_inner);
        used.retain(|_, at| at.elapsed() < IDLE);
        let oldest = (used.len() >= CONNECTIONS)
            .then(|| used.iter().min_by_key(|(_, at)| **at).map(|(id, _)| id.clone()))
            .flatten();
        if let Some(oldest) = &oldest {
            used.remove(oldest);
        }
        used.insert(connection.to_owned(), Instant::now());
        oldest
    }

    fn end(&self, connection: &str) {
        self.used.lock().unwrap_or_else(PoisonError::into_inner).remove(connection);
    }
}

async fn handle<H: ServerHandler>(
    State(door): State<Arc<Door<H>>>,
    caller: Option<Extension<Caller>>,
    request: Request,
) -> Response {
    let Some(Extension(caller)) = caller else {
        let body = json!({ "jsonrpc": "2.0", "id": null,
            "error": { "code": -32600, "message": "this server wants to know who asks" } });
        return (StatusCode::UNAUTHORIZED, Json(body)).into_response();
    };
    let desk = door.desk(&caller);
    let header = request.headers().get(SESSION).and_then(|id| id.to_str().ok());
    let named = header.map(str::to_owned);
    let is_end = request.method() == Method::DELETE;
    if let Some(connection) = &named {
        desk.touch(connection);
    }
    let response = match desk.service.clone().oneshot(request).await {
        Ok(response) => response.map(Body::new),
        Err(never) => match never {},
    };
    match (&named, response.headers().get(SESSION).and_then(|id| id.to_str().ok())) {
        (None, Some(new)) => {
            if let Some(oldest) = desk.begin(new) {
                // It may have ended by itself.
                let _ = desk.connections.close_session(&oldest.into()).await;
            }
        }
        (Some(connection), _) if is_end && response.status().is_success() => desk.end(connection),
        _ => {}
    }
    response
}
