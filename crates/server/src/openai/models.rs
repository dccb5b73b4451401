//! Implements `/v1/models`, where the team is one model.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::{Extension, Json};
use lango_protocol::Caller;
use serde::Serialize;

use super::Shared;
use super::error::ApiError;
use super::request::{MODEL, check_model};

#[derive(Serialize)]
pub(super) struct ModelList {
    object: &'static str,
    data: [Model; 1],
}

#[derive(Serialize)]
pub(super) struct Model {
    id: &'static str,
    object: &'static str,
    created: i64,
    owned_by: &'static str,
}

fn model(shared: &Shared, caller: &Caller) -> Result<Model, ApiError> {
    shared.teams.team(caller).ok_or_else(ApiError::no_team)?;
    Ok(Model { id: MODEL, object: "model", created: shared.created, owned_by: "lango" })
}

pub(super) async fn list(
    State(shared): State<Arc<Shared>>,
    Extension(caller): Extension<Caller>,
) -> Result<Json<ModelList>, ApiError> {
    Ok(Json(ModelList { object: "list", data: [model(&shared, &caller)?] }))
}

pub(super) async fn show(
    State(shared): State<Arc<Shared>>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
) -> Result<Json<Model>, ApiError> {
    check_model(&name)?;
    model(&shared, &caller).map(Json)
}
