//! Stands between a wallet and its node, and loses what it is told to lose.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::post;
use lango_egress::HttpClientBuilder;

/// Says what is lost of each request of a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Loss {
    Nothing,
    Request,
    Answer,
}

#[derive(Clone)]
pub(crate) struct Relay {
    to: String,
    method: &'static str,
    loss: Arc<Mutex<Loss>>,
    forwarded: Arc<Mutex<usize>>,
}

impl Relay {
    /// Starts a relay; returns it with its address.
    pub(crate) async fn start(to: &str, method: &'static str, loss: Loss) -> (Self, String) {
        let relay = Self {
            to: to.to_owned(),
            method,
            loss: Arc::new(Mutex::new(loss)),
            forwarded: Arc::default(),
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().route("/", post(pass_on)).with_state(relay.clone());
        tokio::spawn(async { axum::serve(listener, router).await.unwrap() });
        (relay, url)
    }

    pub(crate) fn lose(&self, loss: Loss) {
        *self.loss.lock().unwrap() = loss;
    }

    /// Returns how many requests of the method the node got.
    pub(crate) fn forwarded_count(&self) -> usize {
        *self.forwarded.lock().unwrap()
    }
}

async fn pass_on(State(relay): State<Relay>, body: Bytes) -> Result<Vec<u8>, StatusCode> {
    let is_meant = String::from_utf8_lossy(&body).contains(&format!("\"{}\"", relay.method));
    let loss = if is_meant { *relay.loss.lock().unwrap() } else { Loss::Nothing };
    if loss == Loss::Request {
        return Err(StatusCode::BAD_GATEWAY);
    }
    let url = relay.to.parse().unwrap();
    let client = HttpClientBuilder::for_configured_address().build_for(&url).unwrap();
    let request = client.post(url).header("content-type", "application/json").body(body);
    let answer = request.send().await.map_err(|_| StatusCode::BAD_GATEWAY)?;
    let answer = answer.bytes().await.map_err(|_| StatusCode::BAD_GATEWAY)?;
    if is_meant {
        *relay.forwarded.lock().unwrap() += 1;
    }
    if loss == Loss::Answer { Err(StatusCode::GATEWAY_TIMEOUT) } else { Ok(answer.to_vec()) }
}
