//! Implements the fast path: the encoder makes the orchestrator's choice when it is clear;
//! otherwise the model is asked.

use std::sync::Arc;

use futures_util::StreamExt as _;
use lango_model::{Model, ModelId, ModelRequest, ModelStream};

use super::model::{clear_transfer, embedded_id, stream_reply};

/// Puts the encoder in front of the model of an orchestrator.
pub struct RoutedModel {
    model: Arc<dyn Model>,
}

impl RoutedModel {
    /// Puts the encoder in front of a model.
    pub fn new(model: Arc<dyn Model>) -> Self {
        Self { model }
    }
}

impl Model for RoutedModel {
    fn id(&self) -> &ModelId {
        self.model.id()
    }

    fn stream(&self, request: Arc<ModelRequest>) -> ModelStream {
        let model = Arc::clone(&self.model);
        let decided = async move {
            let asked = Arc::clone(&request);
            // Some milliseconds of computation must not block an async thread. If it fails,
            // the model is asked.
            let chosen = tokio::task::spawn_blocking(move || clear_transfer(&asked)).await;
            let transfer = chosen.unwrap_or_else(|error| {
                tracing::warn!(%error, "the embedded model could not choose an agent");
                None
            });
            match transfer {
                Some(reply) => stream_reply(embedded_id(), reply),
                None => model.stream(request),
            }
        };
        Box::pin(futures_util::stream::once(decided).flatten())
    }
}
