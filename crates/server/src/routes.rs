//! All doors in one router, behind one check of who asks.

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::get;
use lango_store::Database;

use crate::access::{Access, admit};
use crate::health::{Health, health};
use crate::openai::OpenAiDoor;
use crate::refusal::Refusal;

/// What stands behind the doors.
pub struct Doors {
    /// The OpenAI wire.
    pub openai: Option<OpenAiDoor>,
    /// The others, each with the paths that it answers at.
    pub others: Vec<Router>,
    /// For `/health`.
    pub database: Database,
    /// For `/health`.
    pub version: &'static str,
    /// How many turns are under way.
    pub running: Arc<dyn Fn() -> usize + Send + Sync>,
}

/// Puts the doors together. Every request passes `access` before it reaches any of them.
pub fn routes(access: Arc<Access>, doors: Doors) -> Router {
    let Doors { openai, others, database, version, running } = doors;
    let told = Router::new().route("/health", get(health)).with_state(Health {
        database,
        version,
        running,
    });
    let openai = openai.map(|door| door.router());
    openai
        .into_iter()
        .chain(others)
        .fold(told, Router::merge)
        .fallback(nothing_here)
        .method_not_allowed_fallback(not_this_way)
        // The bodies that get here were read within limits already.
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn_with_state(access, admit))
}

async fn nothing_here(request: Request) -> Response {
    let words = "there is nothing at this address. docs/server.md lists what is served";
    Refusal::new(StatusCode::NOT_FOUND, "not_found", words).respond(request.uri().path())
}

async fn not_this_way(request: Request) -> Response {
    let words = "this address does not take that method";
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", words)
        .respond(request.uri().path())
}
