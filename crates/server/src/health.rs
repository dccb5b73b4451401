//! Implements `/report_health`: reports that the server runs and, for an authenticated client, its state.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use lango_protocol::Caller;
use lango_store::{Database, Statement};
use serde::Serialize;

/// Holds the sources of the health report.
#[derive(Clone)]
pub(crate) struct HealthSources {
    pub(crate) database: Database,
    pub(crate) version: &'static str,
    pub(crate) running: Arc<dyn Fn() -> usize + Send + Sync>,
}

#[derive(Serialize)]
struct HealthResponse {
    status: &'static str,
    #[serde(flatten)]
    details: Option<HealthDetails>,
}

#[derive(Serialize)]
struct HealthDetails {
    version: &'static str,
    open_turns: usize,
    database: &'static str,
}

pub(crate) async fn report_health(
    State(health): State<HealthSources>,
    caller: Option<Extension<Caller>>,
) -> Response {
    if caller.is_none() {
        return Json(HealthResponse { status: "ok", details: None }).into_response();
    }
    let reached = health.database.query(Statement::new("SELECT 1")).await.is_ok();
    let details = HealthDetails {
        version: health.version,
        open_turns: (health.running)(),
        database: if reached { "reachable" } else { "unreachable" },
    };
    let (code, status) = if reached {
        (StatusCode::OK, "ok")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "degraded")
    };
    (code, Json(HealthResponse { status, details: Some(details) })).into_response()
}
