//! One reply of a model, as a whole.

use std::sync::Arc;

use futures_util::StreamExt;
use lango_model::{Model, ModelError, ModelEvent, ModelId, ModelRequest, RequestedCall};
use lango_protocol::Usage;

/// The most text that is kept of one reply.
const LONGEST_TEXT: usize = 256 * 1024;
/// The most calls that are kept of one reply.
const MOST_CALLS: usize = 64;

/// What was heard of a model.
#[derive(Debug, Default)]
pub(super) struct Heard {
    pub(super) text: String,
    pub(super) pieces: usize,
    pub(super) reasoned: bool,
    pub(super) calls: Vec<RequestedCall>,
    pub(super) usage: Option<Usage>,
    pub(super) setbacks: usize,
    /// Who answered, where that is said.
    pub(super) by: Option<ModelId>,
}

/// Asks a model and listens to the end.
pub(super) async fn hear(model: &dyn Model, request: ModelRequest) -> Result<Heard, ModelError> {
    let mut heard = Heard::default();
    let mut stream = model.stream(Arc::new(request));
    while let Some(event) = stream.next().await {
        match event? {
            ModelEvent::Text(piece) => {
                if heard.text.len() + piece.len() <= LONGEST_TEXT {
                    heard.text.push_str(&piece);
                }
                heard.pieces += 1;
            }
            ModelEvent::Reasoning(_) => heard.reasoned = true,
            ModelEvent::Call(call) if heard.calls.len() < MOST_CALLS => heard.calls.push(call),
            ModelEvent::Usage(usage) => heard.usage = Some(usage),
            ModelEvent::Answering(id) => heard.by = Some(id),
            ModelEvent::Setback(_) => {
                heard = Heard { setbacks: heard.setbacks + 1, ..Heard::default() };
            }
            _ => {}
        }
    }
    Ok(heard)
}
