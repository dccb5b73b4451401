//! Implements `/v1/models`, where the team is one model.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::{Extension, Json};
use lango_protocol::Caller;
use serde::Serialize;

use super::EndpointState;
use super::error::ApiError;
use super::request::{MODEL, check_model};

#[derive(Serialize)]
pub(super) struct ModelList {
    object: &'static str,
    data: [ListedModel; 1],
}

#[derive(Serialize)]
pub(super) struct ListedModel {
    id: &'static str,
    object: &'static str,
    created: i64,
    owned_by: &'static str,
}

fn build_model(shared: &EndpointState, caller: &Caller) -> Result<ListedModel, ApiError> {
    shared.teams.team(caller).ok_or_else(ApiError::no_team)?;
    Ok(ListedModel { id: MODEL, object: "model", created: shared.created, owned_by: "lango" })
}

pub(super) async fn list_models(
    State(shared): State<Arc<EndpointState>>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<ModelList>, ApiError> {
    Ok(Json(ModelList { object: "list", data: [build_model(&shared, &caller)?] }))
}

pub(super) async fn show_model(
    State(shared): State<Arc<EndpointState>>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
) -> Result<Json<ListedModel>, ApiError> {
    check_model(&name)?;
    build_model(&shared, &caller).map(Json)
}
