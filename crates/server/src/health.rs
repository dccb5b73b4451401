//! Implements `/report_health`: reports that the server runs and, for an authenticated client, its state.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::{Extension, Json};
use lango_protocol::{Caller, OWNER};
use lango_store::Database;
use serde::Serialize;

/// Limits how long the database is waited for.
const DATABASE_TIMEOUT: Duration = Duration::from_secs(1);

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
    /// Whether requests can be served. A server that answers is live, ready or not.
    ready: bool,
    database: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

pub(crate) async fn report_health(
    State(health): State<HealthSources>,
    caller: Option<Extension<Caller>>,
) -> Response {
    if caller.is_none() {
        return Json(HealthResponse { status: "ok", details: None }).into_response();
    }
    let checked = health.database.check_reachable(DATABASE_TIMEOUT).await;
    let reached = checked.is_ok();
    // The reason names files and hosts, which are the owner's business.
    let is_owner = caller.is_some_and(|Extension(caller)| caller.as_str() == OWNER);
    let reason = checked.err().filter(|_| is_owner).map(|error| error.to_string());
    let details = HealthDetails {
        version: health.version,
        open_turns: (health.running)(),
        ready: reached,
        database: if reached { "reachable" } else { "unreachable" },
        reason,
    };
    let (code, status) = if reached {
        (StatusCode::OK, "ok")
    } else {
        (StatusCode::SERVICE_UNAVAILABLE, "degraded")
    };
    (code, Json(HealthResponse { status, details: Some(details) })).into_response()
}
