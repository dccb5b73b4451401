//! Collects one reply of a model.

use std::sync::Arc;

use futures_util::StreamExt;
use lango_model::{Model, ModelError, ModelEvent, ModelId, ModelRequest, RequestedCall};
use lango_protocol::Usage;

/// Limits the text of one reply.
const MAX_TEXT_BYTES: usize = 256 * 1024;
/// Limits the calls of one reply.
const MAX_CALL_COUNT: usize = 64;

/// The reply of a model.
#[derive(Debug, Default)]
pub(crate) struct ModelReply {
    pub(crate) text: String,
    pub(crate) pieces: usize,
    pub(crate) reasoned: bool,
    pub(crate) calls: Vec<RequestedCall>,
    pub(crate) usage: Option<Usage>,
    pub(crate) setbacks: usize,
    /// The model that answered, if it is known.
    pub(crate) by: Option<ModelId>,
}

/// Asks a model, and collects its reply to the end.
pub(crate) async fn collect_reply(
    model: &dyn Model,
    request: ModelRequest,
) -> Result<ModelReply, ModelError> {
    let mut reply = ModelReply::default();
    let mut stream = model.stream(Arc::new(request));
    while let Some(event) = stream.next().await {
        match event? {
            ModelEvent::Text(piece) => {
                if reply.text.len() + piece.len() <= MAX_TEXT_BYTES {
                    reply.text.push_str(&piece);
                }
                reply.pieces += 1;
            }
            ModelEvent::Reasoning(_) => reply.reasoned = true,
            ModelEvent::Call(call) if reply.calls.len() < MAX_CALL_COUNT => reply.calls.push(call),
            ModelEvent::Usage(usage) => reply.usage = Some(usage),
            ModelEvent::Answering(id) => reply.by = Some(id),
            ModelEvent::Setback(_) => {
                reply = ModelReply { setbacks: reply.setbacks + 1, ..ModelReply::default() };
            }
            _ => {}
        }
    }
    Ok(reply)
}
