//! Reading a reply: bytes from the network in, model events out.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::stream;
use reqwest::header::CONTENT_TYPE;

use super::chunk::{Calls, Choice, Chunk};
use crate::sse::DataLines;
use crate::{ModelError, ModelEvent, ModelStream};

/// The most a whole reply may weigh on the wire. Streamed deltas carry a lot of wrapping.
const MAX_REPLY_BYTES: usize = 32 * 1024 * 1024;
/// The longest single line; longer ones are not deltas.
const MAX_LINE_BYTES: usize = 4 * 1024 * 1024;
/// The most calls of one reply that are kept. More are beyond any use, and each costs memory.
const MAX_CALLS: usize = 512;

struct Reply {
    response: reqwest::Response,
    idle: Duration,
    lines: DataLines,
    events: VecDeque<ModelEvent>,
    calls: Calls,
    received: usize,
    /// The server said that the model has finished.
    finished: bool,
    /// The model was stopped by its output limit.
    at_limit: bool,
    /// Nothing more is read.
    closed: bool,
}

/// Opens the stream of a successful response.
pub(super) async fn read(
    response: reqwest::Response,
    idle: Duration,
) -> Result<ModelStream, ModelError> {
    let streams = response
        .headers()
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .is_none_or(|kind| !kind.starts_with("application/json"));
    let mut reply = Reply {
        idle,
        lines: DataLines::default(),
        events: VecDeque::new(),
        calls: Calls::default(),
        received: 0,
        finished: false,
        at_limit: false,
        closed: false,
        response,
    };
    if !streams {
        // A server that ignores `stream` sends one document; it is whole or does not parse.
        let mut body = Vec::new();
        while let Some(bytes) = reply.next_bytes().await? {
            body.extend_from_slice(&bytes);
        }
        reply.take_payload(&body)?;
        reply.finished = true;
        reply.end()?;
    }
    Ok(Box::pin(stream::try_unfold(reply, |mut reply| async move {
        Ok(reply.next_event().await?.map(|event| (event, reply)))
    })))
}

impl Reply {
    async fn next_event(&mut self) -> Result<Option<ModelEvent>, ModelError> {
        loop {
            if let Some(event) = self.events.pop_front() {
                return Ok(Some(event));
            }
            if self.closed {
                return Ok(None);
            }
            if let Some(bytes) = self.next_bytes().await? {
                self.take_bytes(&bytes)?;
                continue;
            }
            if let Some(payload) = self.lines.last_payload().map(<[u8]>::to_vec) {
                // An unfinished last line that does not parse was cut off.
                if self.take_payload(&payload).is_err() && !self.finished {
                    return Err(cut("in the middle of an event"));
                }
            }
            self.end()?;
        }
    }

    async fn next_bytes(&mut self) -> Result<Option<bytes::Bytes>, ModelError> {
        let bytes = tokio::time::timeout(self.idle, self.response.chunk())
            .await
            .map_err(|_| ModelError::Silent { seconds: self.idle.as_secs() })?;
        match bytes {
            Ok(Some(bytes)) => {
                self.received += bytes.len();
                if self.received > MAX_REPLY_BYTES {
                    let reason = format!("the reply is longer than {MAX_REPLY_BYTES} bytes");
                    return Err(ModelError::Malformed { reason });
                }
                Ok(Some(bytes))
            }
            Ok(None) => Ok(None),
            // What had arrived whole before a reset still counts.
            Err(_) if self.finished => Ok(None),
            Err(error) => Err(cut(&super::describe(&error))),
        }
    }

    fn take_bytes(&mut self, bytes: &[u8]) -> Result<(), ModelError> {
        self.lines.push(bytes);
        let mut lines = std::mem::take(&mut self.lines);
        while let Some(payload) = lines.next_payload() {
            if payload == b"[DONE]" {
                self.finished = true;
                self.end()?;
                // Reading to the very end lets the connection be used again; it is not worth
                // waiting for.
                let _ = self.response.chunk().now_or_never();
                break;
            }
            self.take_payload(payload)?;
        }
        self.lines = lines;
        if self.lines.pending_bytes() > MAX_LINE_BYTES {
            return Err(ModelError::Malformed { reason: "an event without an end".into() });
        }
        Ok(())
    }

    fn take_payload(&mut self, payload: &[u8]) -> Result<(), ModelError> {
        let chunk: Chunk = serde_json::from_slice(payload).map_err(|error| {
            let shown: String = String::from_utf8_lossy(payload).chars().take(120).collect();
            ModelError::Malformed { reason: format!("{error} in {shown:?}") }
        })?;
        if let Some(error) = chunk.error {
            return Err(ModelError::Overloaded { reason: error.into_text() });
        }
        if let Some(usage) = chunk.usage {
            self.events.push_back(ModelEvent::Usage(usage.into()));
        }
        if let Some(choice) = chunk.choices.into_iter().next() {
            self.take_choice(choice);
        }
        Ok(())
    }

    fn take_choice(&mut self, choice: Choice) {
        let delta = choice.delta.unwrap_or_default();
        let not_empty = |text: &String| !text.is_empty();
        if let Some(text) = delta.reasoning.filter(not_empty) {
            self.events.push_back(ModelEvent::Reasoning(text));
        }
        for text in [delta.content, delta.refusal].into_iter().flatten().filter(not_empty) {
            self.events.push_back(ModelEvent::Text(text));
        }
        for piece in delta.tool_calls.into_iter().flatten() {
            if self.calls.len() < MAX_CALLS {
                self.calls.add(piece);
            }
        }
        if let Some(reason) = choice.finish_reason {
            self.finished = true;
            self.at_limit |= reason == "length";
        }
    }

    /// The server has nothing more. Only now are calls given out, and only whole ones.
    fn end(&mut self) -> Result<(), ModelError> {
        self.closed = true;
        if !self.finished {
            return Err(cut(if self.calls.is_empty() {
                "the connection closed before the end mark"
            } else {
                "the connection closed inside a tool call, which was not run"
            }));
        }
        if self.at_limit && !self.calls.is_empty() {
            return Err(ModelError::OutputLimit);
        }
        self.events.extend(self.calls.finish().map(ModelEvent::Call));
        Ok(())
    }
}

fn cut(reason: &str) -> ModelError {
    ModelError::Cut { reason: reason.to_owned() }
}
