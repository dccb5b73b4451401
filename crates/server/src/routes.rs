//! Combines all endpoints in one router, behind one authentication.

use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::StatusCode;
use axum::middleware::from_fn_with_state;
use axum::response::Response;
use axum::routing::get;
use lango_store::Database;

use crate::access::{AccessControl, HEALTH_PATH, admit_request};
use crate::health::{HealthSources, report_health};
use crate::openai::OpenAiEndpoint;
use crate::refusal::RequestRefusal;

/// Holds the endpoints and what `/report_health` reports.
pub struct Endpoints {
    /// The OpenAI endpoint.
    pub openai: Option<OpenAiEndpoint>,
    /// The routers of the other endpoints, with their paths.
    pub others: Vec<Router>,
    /// A part of the report of `/report_health`.
    pub database: Database,
    /// A part of the report of `/report_health`.
    pub version: &'static str,
    /// Returns the number of running turns.
    pub running: Arc<dyn Fn() -> usize + Send + Sync>,
}

/// Combines the endpoints. Every request passes `access` before it reaches any of them.
pub fn combine_routes(access: Arc<AccessControl>, endpoints: Endpoints) -> Router {
    let Endpoints { openai, others, database, version, running } = endpoints;
    let health_router = Router::new()
        .route(HEALTH_PATH, get(report_health))
        .with_state(HealthSources { database, version, running });
    let openai = openai.map(|endpoint| endpoint.router());
    openai
        .into_iter()
        .chain(others)
        .fold(health_router, Router::merge)
        .fallback(respond_not_found)
        .method_not_allowed_fallback(respond_method_not_allowed)
        // `access` has already read the bodies within limits.
        .layer(DefaultBodyLimit::disable())
        .layer(from_fn_with_state(access, admit_request))
}

async fn respond_not_found(request: Request) -> Response {
    let words = "there is no endpoint at this path. docs/server.md lists the endpoints";
    RequestRefusal::new(StatusCode::NOT_FOUND, "not_found", words).respond(request.uri().path())
}

async fn respond_method_not_allowed(request: Request) -> Response {
    let words = "this path does not support that method";
    RequestRefusal::new(StatusCode::METHOD_NOT_ALLOWED, "method_not_allowed", words)
        .respond(request.uri().path())
}
