//! Starts a server with one card, and a real agent.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use lango_a2a::remote::{Directory, RemoteConfig, RemoteLimits, card_url};
use lango_egress::Rules;
use lango_store::DatabaseLocation;
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

/// The card and headers that the server sends, and its request counts.
#[derive(Default)]
pub(crate) struct CardServerState {
    pub(crate) card: Value,
    pub(crate) cache_control: Option<&'static str>,
    pub(crate) etag: Option<&'static str>,
    pub(crate) whole: usize,
    pub(crate) unchanged: usize,
}

/// A server of one card, with caching headers, which the SDKs do not send.
pub(crate) struct CardServer {
    pub(crate) url: String,
    /// Locked to change the response, and to count.
    pub(crate) state: Arc<Mutex<CardServerState>>,
    server: JoinHandle<()>,
}

impl CardServer {
    pub(crate) async fn open() -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(CardServerState {
            card: card(&url, "as it was"),
            ..CardServerState::default()
        }));
        let app = Router::new()
            .route("/.well-known/agent-card.json", get(answer))
            .route("/other.json", get(answer))
            .with_state(Arc::clone(&state));
        let server = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { url, state, server }
    }

    pub(crate) fn close(&self) {
        self.server.abort();
    }

    pub(crate) fn counts(&self) -> (usize, usize) {
        let state = self.state.lock().unwrap();
        (state.whole, state.unchanged)
    }
}

/// Returns the card of an agent at this address.
pub(crate) fn card(url: &str, description: &str) -> Value {
    json!({
        "name": "Test agent", "description": description, "version": "1",
        "capabilities": { "streaming": false },
        "supportedInterfaces":
            [{ "url": format!("{url}/rpc"), "protocolBinding": "JSONRPC", "protocolVersion": "1.0" }],
        "defaultInputModes": ["text/plain"], "defaultOutputModes": ["text/plain"], "skills": [],
    })
}

async fn answer(State(state): State<Arc<Mutex<CardServerState>>>, headers: HeaderMap) -> Response {
    let mut state = state.lock().unwrap();
    let asked = headers.get("if-none-match").and_then(|value| value.to_str().ok());
    let mut response = if asked.is_some() && asked == state.etag {
        state.unchanged += 1;
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        state.whole += 1;
        axum::Json(state.card.clone()).into_response()
    };
    let marks = [("cache-control", state.cache_control), ("etag", state.etag)];
    for (name, value) in marks.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        response.headers_mut().insert(name, value.parse().unwrap());
    }
    response
}

pub(crate) fn config(url: &str) -> RemoteConfig {
    RemoteConfig {
        name: "weather".parse().unwrap(),
        card_url: card_url(url).unwrap(),
        description: None,
        token: None,
        token_env: None,
        token_secret: None,
        allow_hosts: Vec::new(),
        card_keys: Vec::new(),
        rules: Rules::default(),
        streaming: true,
        limits: RemoteLimits::default(),
    }
}

/// Opens a directory as a program does at its start.
pub(crate) async fn directory(location: &DatabaseLocation, config: RemoteConfig) -> Directory {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let database = lango_store::testing::open(location).await;
    Directory::open(database, vec![config], Duration::from_secs(5)).await.unwrap()
}

/// An agent built with the Python SDK. Killed when dropped.
pub(crate) struct Agent {
    _child: Child,
    pub(crate) url: String,
}

impl Agent {
    pub(crate) async fn start(log: &std::path::Path) -> Self {
        let peers = std::env::var_os("LANGO_PEERS").expect(
            "LANGO_PEERS is not set. Install the peers and see where they are: cargo xtask peers",
        );
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../peers/python/a2a_agent.py");
        let mut child = Command::new(PathBuf::from(peers).join("python/a2a/bin/python"))
            .args([script, "--binding", "jsonrpc", "--log"])
            .arg(log)
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .expect("the peers are not installed. Type: cargo xtask peers");
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = lines.next_line().await.unwrap().unwrap();
        let url = format!("http://127.0.0.1:{}", line.rsplit(' ').next().unwrap());
        Self { _child: child, url }
    }
}
