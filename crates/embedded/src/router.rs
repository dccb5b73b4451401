//! The fast path: the encoder makes the orchestrator's choice when it is sure, and the model is asked
//! otherwise.

use std::sync::Arc;

use futures_util::StreamExt as _;
use lango_model::{Model, ModelId, ModelRequest, ModelStream};

use super::model::{embedded_id, events, sure};

/// A model of an orchestrator with the encoder in front of it.
pub struct Routed {
    model: Arc<dyn Model>,
}

impl Routed {
    /// Puts the encoder in front of a model.
    pub fn new(model: Arc<dyn Model>) -> Self {
        Self { model }
    }
}

impl Model for Routed {
    fn id(&self) -> &ModelId {
        self.model.id()
    }

    fn stream(&self, request: Arc<ModelRequest>) -> ModelStream {
        let model = Arc::clone(&self.model);
        let decided = async move {
            let asked = Arc::clone(&request);
            // Numbers for some milliseconds: not on a thread that others wait for. Should that fail,
            // the model is asked.
            let sure = tokio::task::spawn_blocking(move || sure(&asked)).await.ok().flatten();
            match sure {
                Some(reply) => events(embedded_id(), reply),
                None => model.stream(request),
            }
        };
        Box::pin(futures_util::stream::once(decided).flatten())
    }
}
