//! A recording, played again: the same bytes in the same pieces, as if the provider were there.
//!
//! What was said is found by who asks, not by what is asked: directories, dates and call ids
//! differ from run to run. Each agent gets the replies that it got, in their order.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{Request, Response, StatusCode};
use lango_model::{Endpoint, Exchange, ExchangeEnd, ModelId, Recording, Wire};
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

use super::delivery::{Body, Delivery, End, Pace, at_once};
use super::server::accept;

/// A recording that is being played. Stops when dropped.
pub struct RecordedServer {
    address: SocketAddr,
    stage: Arc<Stage>,
    _task: AbortOnDropHandle<()>,
}

struct Stage {
    /// Who was recorded, in the order of their first appearance.
    models: Vec<(ModelId, Wire)>,
    recording: Recording,
    /// Which exchanges were played; held for a look at a time.
    played: Mutex<Vec<bool>>,
}

impl RecordedServer {
    /// Starts on a free port of 127.0.0.1.
    pub async fn start(recording: Recording) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = listener.local_addr()?;
        let mut models: Vec<(ModelId, Wire)> = Vec::new();
        for exchange in recording.exchanges() {
            if models.iter().all(|(id, _)| *id != exchange.id()) {
                models.push((exchange.id(), exchange.wire));
            }
        }
        let played = Mutex::new(vec![false; recording.exchanges().len()]);
        let stage = Arc::new(Stage { models, recording, played });
        let on_stage = Arc::clone(&stage);
        let task = tokio::spawn(accept(listener, move |request| {
            let stage = Arc::clone(&on_stage);
            async move { stage.answer(request).await }
        }));
        Ok(Self { address, stage, _task: AbortOnDropHandle::new(task) })
    }

    /// The agents that were recorded.
    pub fn agents(&self) -> Vec<String> {
        let mut agents: Vec<String> = Vec::new();
        for agent in self.stage.recording.exchanges().iter().filter_map(Exchange::agent) {
            if agents.iter().all(|known| known != agent) {
                agents.push(agent.to_owned());
            }
        }
        agents
    }

    /// The models that an agent asked, in the order in which it did, each with how it can be
    /// reached here.
    pub fn endpoints(&self, agent: &str) -> Vec<(ModelId, Endpoint)> {
        let mut endpoints: Vec<(ModelId, Endpoint)> = Vec::new();
        let exchanges = self.stage.recording.exchanges().iter();
        for exchange in exchanges.filter(|exchange| exchange.agent() == Some(agent)) {
            let id = exchange.id();
            if endpoints.iter().all(|(known, _)| *known != id) {
                let at = self.stage.models.iter().position(|(known, _)| *known == id);
                let base_url = format!("http://{}/{}", self.address, at.unwrap_or(0));
                endpoints.push((id.clone(), Endpoint::new(played(&id), exchange.wire, base_url)));
            }
        }
        endpoints
    }
}

/// The name of a model that is played: whoever adds up costs can tell it from the real one.
fn played(id: &ModelId) -> ModelId {
    ModelId::new("replay", id.to_string())
}

impl Stage {
    async fn answer(&self, request: Request<Incoming>) -> io::Result<Response<Body>> {
        const LIMIT: usize = 64 * 1024 * 1024;
        let place = request.uri().path().split('/').nth(1).and_then(|part| part.parse().ok());
        let body = Limited::new(request.into_body(), LIMIT).collect().await;
        let body = body.map_err(|error| io::Error::other(error.to_string()))?.to_bytes();
        let body = String::from_utf8_lossy(&body);
        let agent = Exchange::agent_in(&body).unwrap_or_default();
        let model = place.and_then(|place: usize| self.models.get(place));
        let Some(exchange) = model.and_then(|(id, _)| self.next(id, agent)) else {
            let asked = model.map_or_else(String::new, |(id, _)| format!(" of {id}"));
            return Ok(nothing_left(&format!(
                "the recording has no further reply{asked} for the agent {agent:?}"
            )));
        };
        play(exchange).await
    }

    /// The next exchange of a model with an agent.
    fn next(&self, id: &ModelId, agent: &str) -> Option<&Exchange> {
        let mut played = self.played.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |(index, exchange): &(usize, &Exchange)| {
            !played[*index] && exchange.id() == *id && exchange.agent().unwrap_or("") == agent
        };
        let (index, exchange) = self.recording.exchanges().iter().enumerate().find(fits)?;
        played[index] = true;
        Some(exchange)
    }
}

async fn play(exchange: &Exchange) -> io::Result<Response<Body>> {
    let status = exchange.status.and_then(|code| StatusCode::from_u16(code).ok());
    let Some(status) = status else {
        return match exchange.end {
            // Nothing ever came, and somebody grew tired of it.
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
    // How long somebody was asked to wait is not waited for again.
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
