//! Replays a recording: the same bytes in the same pieces, as if the provider were there.
//!
//! An exchange is found by the agent that asks, not by its request: directories, dates and call ids
//! differ from run to run. Each agent gets the replies that it got, in their order.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Request, Response, StatusCode};
use lango_model::{Endpoint, ExchangeEnd, LoadedRecording, ModelId, RecordedExchange, Wire};
use parking_lot::Mutex;
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

use super::delivery::{Body, Delivery, End, Pace, at_once};
use super::server::accept;

/// Replays a recording. It stops when dropped.
pub struct RecordedServer {
    address: SocketAddr,
    state: Arc<ReplayState>,
    _task: AbortOnDropHandle<()>,
}

struct ReplayState {
    /// The recorded models, in the order of their first appearance.
    models: Vec<(ModelId, Wire)>,
    recording: LoadedRecording,
    /// True for each exchange that was replayed; the lock is held briefly.
    replayed: Mutex<Vec<bool>>,
}

impl RecordedServer {
    /// Starts on a free port of 127.0.0.1.
    pub async fn start(recording: LoadedRecording) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let mut models: Vec<(ModelId, Wire)> = Vec::new();
        for exchange in recording.exchanges() {
            if models.iter().all(|(id, _)| *id != exchange.id()) {
                models.push((exchange.id(), exchange.wire));
            }
        }
        let replayed = Mutex::new(vec![false; recording.exchanges().len()]);
        let state = Arc::new(ReplayState { models, recording, replayed });
        let shared_state = Arc::clone(&state);
        let task = tokio::spawn(accept(listener, move |request| {
            let state = Arc::clone(&shared_state);
            async move { state.answer(request).await }
        }));
        Ok(Self { address, state, _task: AbortOnDropHandle::new(task) })
    }

    /// Returns the agents that were recorded.
    pub fn agents(&self) -> Vec<String> {
        let mut agents: Vec<String> = Vec::new();
        for agent in self.state.recording.exchanges().iter().filter_map(RecordedExchange::agent) {
            if agents.iter().all(|known| known != agent) {
                agents.push(agent.to_owned());
            }
        }
        agents
    }

    /// Returns the models that an agent asked, in that order, each with its endpoint here.
    pub fn endpoints(&self, agent: &str) -> Vec<(ModelId, Endpoint)> {
        let mut endpoints: Vec<(ModelId, Endpoint)> = Vec::new();
        let exchanges = self.state.recording.exchanges().iter();
        for exchange in exchanges.filter(|exchange| exchange.agent() == Some(agent)) {
            let id = exchange.id();
            if endpoints.iter().all(|(known, _)| *known != id) {
                let at = self.state.models.iter().position(|(known, _)| *known == id);
                let base_url = format!("http://{}/{}", self.address, at.unwrap_or(0));
                endpoints
                    .push((id.clone(), Endpoint::new(replayed_id(&id), exchange.wire, base_url)));
            }
        }
        endpoints
    }
}

/// Returns the name of a replayed model, by which its cost can be told from that of the real one.
fn replayed_id(id: &ModelId) -> ModelId {
    ModelId::new("replay", id.to_string())
}

impl ReplayState {
    async fn answer(&self, request: Request<Incoming>) -> io::Result<Response<Body>> {
        const MAX_REQUEST_BYTES: usize = 64 * 1024 * 1024;
        let index = request.uri().path().split('/').nth(1).and_then(|part| part.parse().ok());
        let body = Limited::new(request.into_body(), MAX_REQUEST_BYTES).collect().await;
        let body = body.map_err(|error| io::Error::other(error.to_string()))?.to_bytes();
        let body = String::from_utf8_lossy(&body);
        let agent = RecordedExchange::agent_in(&body).unwrap_or_default();
        let model = index.and_then(|index: usize| self.models.get(index));
        let Some(exchange) = model.and_then(|(id, _)| self.next(id, agent)) else {
            let asked = model.map_or_else(String::new, |(id, _)| format!(" of {id}"));
            return Ok(nothing_left(&format!(
                "the recording has no further reply{asked} for the agent {agent:?}"
            )));
        };
        play(exchange).await
    }

    /// Returns the next exchange of a model with an agent.
    fn next(&self, id: &ModelId, agent: &str) -> Option<&RecordedExchange> {
        let mut replayed = self.replayed.lock();
        let fits = |(index, exchange): &(usize, &RecordedExchange)| {
            !replayed[*index] && exchange.id() == *id && exchange.agent().unwrap_or("") == agent
        };
        let (index, exchange) = self.recording.exchanges().iter().enumerate().find(fits)?;
        replayed[index] = true;
        Some(exchange)
    }
}

async fn play(exchange: &RecordedExchange) -> io::Result<Response<Body>> {
    let status = exchange.status.and_then(|code| StatusCode::from_u16(code).ok());
    let Some(status) = status else {
        return match exchange.end {
            // Nothing ever came, and the client stopped waiting.
            ExchangeEnd::Abandoned => std::future::pending().await,
            _ => Err(io::Error::other("the connection broke in the recording")),
        };
    };
    let pieces = exchange.pieces.iter().map(|piece| Bytes::from(piece.clone())).collect();
    let end = match exchange.end {
        ExchangeEnd::Whole => End::Whole,
        ExchangeEnd::Broken => End::Broken,
        ExchangeEnd::Abandoned => End::Stalled,
    };
    let mut response = Response::new(Delivery { pieces, pace: Pace::Events, end }.into_body());
    *response.status_mut() = status;
    // A recorded `Retry-After` is not replayed.
    let kind = exchange.content_type.as_deref();
    if let Some(kind) = kind.and_then(|text| HeaderValue::from_str(text).ok()) {
        response.headers_mut().insert(CONTENT_TYPE, kind);
    }
    Ok(response)
}

fn nothing_left(reason: &str) -> Response<Body> {
    let body = serde_json::json!({ "error": { "message": reason } }).to_string();
    let mut response = Response::new(at_once(Bytes::from(body)));
    *response.status_mut() = StatusCode::UNPROCESSABLE_ENTITY;
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    response
}
