//! Serves MCP over streamable HTTP. Every connection belongs to a caller.

use std::collections::HashMap;
use std::sync::Arc;
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
use parking_lot::Mutex;
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::SessionManager as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::{StreamableHttpServerConfig, StreamableHttpService};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

use super::team_server::StopSignals;
use super::{OfferedTools, TeamServer};

/// Limits the connections of one caller. A further one closes the least recently used one.
const MAX_CONNECTION_COUNT: usize = 64;
/// Limits how long a connection may be idle. This is longer than a question to the owner may wait.
const IDLE_TIMEOUT: Duration = Duration::from_hours(2);
/// The header that identifies a connection.
const SESSION: &str = "mcp-session-id";

/// Holds the parts of the endpoint.
pub struct McpParts {
    /// The team of each caller.
    pub teams: Arc<dyn Teams>,
    /// The tools that each caller may call directly.
    pub offers: Arc<dyn OfferedTools>,
    /// Is cancelled when the server shuts down; connections then end.
    pub closing: CancellationToken,
}

/// Serves MCP over HTTP, at `/mcp`.
pub struct McpEndpoint {
    router: Router,
}

impl McpEndpoint {
    /// Creates the endpoint from its parts.
    pub fn new(parts: McpParts) -> Self {
        let McpParts { teams, offers, closing } = parts;
        let signals = StopSignals { closing: closing.clone(), ..StopSignals::default() };
        let router = endpoint_for(closing, move |caller| {
            TeamServer::new(caller.clone(), Arc::clone(&teams), Arc::clone(&offers))
                .with_signals(signals.clone())
        });
        Self { router }
    }

    /// Returns its routes. Every request must carry the `Caller` as an extension.
    pub fn router(&self) -> Router {
        self.router.clone()
    }
}

/// Creates the handler of a connection of a caller.
pub trait HandlerFactory<H>: Fn(&Caller) -> H + Send + Sync + 'static {}

impl<H, F: Fn(&Caller) -> H + Send + Sync + 'static> HandlerFactory<H> for F {}

/// Returns the routes of an endpoint whose connections are handled by what `serves` creates.
pub fn endpoint_for<H: ServerHandler>(
    closing: CancellationToken,
    serves: impl HandlerFactory<H>,
) -> Router {
    let state =
        Arc::new(HttpState { serves: Arc::new(serves), closing, services: Mutex::default() });
    Router::new().route("/mcp", any(handle_request::<H>)).with_state(state)
}

struct HttpState<H> {
    serves: Arc<dyn HandlerFactory<H>>,
    closing: CancellationToken,
    /// The service of each caller. A caller cannot use the connections of another, whatever id it
    /// sends. The lock is held only to find or create a service.
    services: Mutex<HashMap<Caller, Arc<CallerService<H>>>>,
}

/// Serves one caller.
struct CallerService<H> {
    service: StreamableHttpService<H, LocalSessionManager>,
    connections: Arc<LocalSessionManager>,
    /// The time at which each connection was last used. The lock is held for one lookup.
    used: Mutex<HashMap<String, Instant>>,
}

impl<H: ServerHandler> HttpState<H> {
    fn caller_service(&self, caller: &Caller) -> Arc<CallerService<H>> {
        let mut services = self.services.lock();
        if let Some(caller_service) = services.get(caller) {
            return Arc::clone(caller_service);
        }
        let mut connections = LocalSessionManager::default();
        connections.session_config.keep_alive = Some(IDLE_TIMEOUT);
        let connections = Arc::new(connections);
        let (serves, who) = (Arc::clone(&self.serves), caller.clone());
        // Hosts and origins were checked before, for all endpoints.
        let config = StreamableHttpServerConfig::default()
            .disable_allowed_hosts()
            .disable_allowed_origins()
            .with_cancellation_token(self.closing.child_token());
        let service =
            StreamableHttpService::new(move || Ok(serves(&who)), Arc::clone(&connections), config);
        let caller_service =
            Arc::new(CallerService { service, connections, used: Mutex::default() });
        services.insert(caller.clone(), Arc::clone(&caller_service));
        caller_service
    }
}

impl<H> CallerService<H> {
    fn touch(&self, connection: &str) {
        let mut used = self.used.lock();
        if let Some(at) = used.get_mut(connection) {
            *at = Instant::now();
        }
    }

    /// Records a new connection. Returns the one that has to be closed for it, if any.
    fn begin(&self, connection: &str) -> Option<String> {
        let mut used = self.used.lock();
        used.retain(|_, at| at.elapsed() < IDLE_TIMEOUT);
        let oldest = (used.len() >= MAX_CONNECTION_COUNT)
            .then(|| used.iter().min_by_key(|(_, at)| **at).map(|(id, _)| id.clone()))
            .flatten();
        if let Some(oldest) = &oldest {
            used.remove(oldest);
        }
        used.insert(connection.to_owned(), Instant::now());
        oldest
    }

    fn end(&self, connection: &str) {
        self.used.lock().remove(connection);
    }
}

async fn handle_request<H: ServerHandler>(
    State(state): State<Arc<HttpState<H>>>,
    caller: Option<Extension<Caller>>,
    request: Request,
) -> Response {
    let Some(Extension(caller)) = caller else {
        let body = json!({ "jsonrpc": "2.0", "id": null,
            "error": { "code": -32600, "message": "this server requires a token" } });
        return (StatusCode::UNAUTHORIZED, Json(body)).into_response();
    };
    let caller_service = state.caller_service(&caller);
    let header = request.headers().get(SESSION).and_then(|id| id.to_str().ok());
    let named = header.map(str::to_owned);
    let is_end = request.method() == Method::DELETE;
    if let Some(connection) = &named {
        caller_service.touch(connection);
    }
    let response = match caller_service.service.clone().oneshot(request).await {
        Ok(response) => response.map(Body::new),
        Err(never) => match never {},
    };
    match (&named, response.headers().get(SESSION).and_then(|id| id.to_str().ok())) {
        (None, Some(new)) => {
            if let Some(oldest) = caller_service.begin(new) {
                // It may have ended by itself.
                let _ = caller_service.connections.close_session(&oldest.into()).await;
            }
        }
        (Some(connection), _) if is_end && response.status().is_success() => {
            caller_service.end(connection);
        }
        _ => {}
    }
    response
}
