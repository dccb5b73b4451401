//! Stores the request of a turn that was promised, so that any process can run it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use bytes::Bytes;
use lango_model::{Image, UserMessage};
use lango_protocol::{DirectCall, EventBody, MessageOrigin, Sender, SessionId, TurnId};
use lango_store::{Journal, QueuedTurn, StoreError, TurnState};
use serde::{Deserialize, Serialize};

use crate::request::{TurnInput, TurnRequest};
use crate::runtime::SharedRuntime;

/// A request as it is stored.
#[derive(Debug, Serialize, Deserialize)]
struct StoredRequest {
    input: StoredInput,
    origin: MessageOrigin,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sender: Option<Sender>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredInput {
    Message {
        text: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        attachment: Option<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        images: Vec<StoredImage>,
    },
    Call(DirectCall),
}

#[derive(Debug, Serialize, Deserialize)]
struct StoredImage {
    media_type: String,
    /// The bytes, as Base64.
    data: String,
}

impl SharedRuntime {
    /// Writes a request as text, without secrets.
    pub(crate) fn store_request(&self, request: &TurnRequest) -> Result<String, StoreError> {
        write_request(request, |text| self.scrubber.scrub(text).into_owned())
    }
}

/// Writes a request whose words have no secrets.
pub(crate) fn store_plain_request(request: &TurnRequest) -> Result<String, StoreError> {
    write_request(request, str::to_owned)
}

fn write_request(
    request: &TurnRequest,
    scrub: impl Fn(&str) -> String,
) -> Result<String, StoreError> {
    let input = match &request.input {
        TurnInput::Message(message) => StoredInput::Message {
            text: scrub(&message.text),
            attachment: message.attachment.as_deref().map(&scrub),
            images: message.images.iter().map(StoredImage::of).collect(),
        },
        TurnInput::Call(call) => {
            StoredInput::Call(DirectCall { arguments: scrub(&call.arguments), ..call.clone() })
        }
    };
    let stored = StoredRequest { input, origin: request.origin, sender: request.sender.clone() };
    serde_json::to_string(&stored).map_err(|error| StoreError::Query { reason: error.to_string() })
}

impl StoredImage {
    fn of(image: &Image) -> Self {
        Self { media_type: image.media_type.clone(), data: BASE64.encode(&image.data) }
    }
}

/// Reads a queued request; none if it cannot be read, which is logged.
pub(crate) fn read_request(queued: &QueuedTurn) -> Option<TurnRequest> {
    let stored: StoredRequest = serde_json::from_str(&queued.request)
        .inspect_err(|error| {
            tracing::error!(turn = %queued.turn, %error, "a queued request cannot be read");
        })
        .ok()?;
    let input = match stored.input {
        StoredInput::Message { text, attachment, images } => {
            let image = |image: StoredImage| {
                let data = Bytes::from(BASE64.decode(image.data).ok()?);
                Some(Image { media_type: image.media_type, data })
            };
            // An image that cannot be read is left out, as when a turn goes on.
            let images = images.into_iter().filter_map(image).collect();
            TurnInput::Message(UserMessage { text, attachment, task: None, images })
        }
        StoredInput::Call(call) => TurnInput::Call(call),
    };
    Some(TurnRequest {
        turn: queued.turn,
        session: queued.session.clone(),
        input,
        origin: stored.origin,
        sender: stored.sender,
    })
}

/// Returns the sender of a promised turn that has not ended; none if there is no such turn.
pub(crate) async fn find_sender(
    journal: &Journal,
    session: &SessionId,
    turn: TurnId,
) -> Result<Option<Option<Sender>>, StoreError> {
    if let TurnState::Queued(queued) = journal.find_turn_state(session, turn).await? {
        return Ok(read_request(&queued).map(|request| request.sender));
    }
    let events = journal.read_turn_events(session, turn).await?;
    Ok(events.into_iter().find_map(|event| match event.body {
        EventBody::UserMessage { sender, .. } => Some(sender),
        _ => None,
    }))
}
