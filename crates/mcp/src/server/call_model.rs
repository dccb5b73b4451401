//! A model that makes the one call that a caller asked for.
//!
//! So a tool that is called directly takes the same way as one that an agent calls: it is a turn, with
//! everything that turns are held to.

use std::sync::Arc;

use futures_util::stream;
use lango_model::{Message, Model, ModelEvent, ModelId, ModelRequest, ModelStream, RequestedCall};
use lango_protocol::Usage;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A call as the message of a turn.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Wanted {
    pub(super) call: String,
    pub(super) arguments: Box<RawValue>,
}

/// Reads the call out of the user's message, makes it, and ends.
pub(super) struct CallModel {
    id: ModelId,
}

impl CallModel {
    pub(super) fn new() -> Self {
        Self { id: ModelId { provider: "lango".to_owned(), model: "direct-call".to_owned() } }
    }
}

impl Model for CallModel {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, request: Arc<ModelRequest>) -> ModelStream {
        let newest = request.messages.iter().rposition(|m| matches!(m, Message::User { .. }));
        let since = &request.messages[newest.map_or(0, |position| position + 1)..];
        let said = match newest.map(|position| &request.messages[position]) {
            Some(Message::User { text, .. }) if since.is_empty() => {
                match serde_json::from_str::<Wanted>(text) {
                    Ok(Wanted { call, arguments }) => ModelEvent::Call(RequestedCall {
                        name: call,
                        arguments: arguments.get().to_owned(),
                    }),
                    Err(error) => ModelEvent::Text(format!("This is not a call: {error}")),
                }
            }
            // What came of it is the result of the call, which is recorded.
            _ => ModelEvent::Text("The call has ended.".to_owned()),
        };
        let events =
            [ModelEvent::Answering(self.id.clone()), said, ModelEvent::Usage(Usage::default())];
        Box::pin(stream::iter(events.map(Ok)))
    }
}
