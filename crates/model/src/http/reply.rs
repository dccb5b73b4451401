//! Reads a reply: bytes from the network in, model events out.

use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt;
use reqwest::header::{CONTENT_TYPE, HeaderMap, RETRY_AFTER};
use serde::de::IgnoredAny;
use tokio::time::Instant;

use super::frames::{Frames, Framing};
use super::incoming::IncomingResponse;
use super::{Assembly, Decoder, Ending, client};
use crate::{ModelError, ModelEvent, ModelFault};

/// Limits the size of a whole reply on the wire. Streamed deltas carry a lot of overhead.
const MAX_REPLY_BYTES: usize = 32 * 1024 * 1024;
/// Limits a single document; longer ones are not deltas.
const MAX_DOCUMENT_BYTES: usize = 4 * 1024 * 1024;

/// Limits how long to wait for a reply.
#[derive(Debug, Clone, Copy)]
pub(super) struct ReplyTimeouts {
    pub(super) idle: Duration,
    pub(super) deadline: Instant,
    pub(super) total: Duration,
}

impl ReplyTimeouts {
    /// Waits for something of the network.
    pub(super) async fn wait<T>(&self, future: impl Future<Output = T>) -> Result<T, ModelError> {
        let until = self.deadline.min(Instant::now() + self.idle);
        tokio::time::timeout_at(until, future).await.map_err(|_| {
            if until == self.deadline {
                let reason =
                    format!("no whole reply in {} s (model.totalSeconds)", self.total.as_secs());
                ModelError::new(ModelFault::TooSlow, reason)
            } else {
                let reason = format!("nothing for {} s (model.idleSeconds)", self.idle.as_secs());
                ModelError::new(ModelFault::Silent, reason)
            }
        })
    }
}

pub(super) struct Reply {
    response: IncomingResponse,
    timeouts: ReplyTimeouts,
    frames: Frames,
    decoder: Box<dyn Decoder>,
    assembly: Assembly,
    received: usize,
    failed: Option<ModelError>,
    ended: bool,
}

impl Reply {
    /// Begins to read a successful response.
    pub(super) async fn open(
        response: IncomingResponse,
        timeouts: ReplyTimeouts,
        framing: Framing,
        decoder: Box<dyn Decoder>,
    ) -> Result<Self, ModelError> {
        let whole = framing == Framing::Events && is_json(response.headers());
        let mut reply = Self {
            response,
            timeouts,
            frames: Frames::new(framing, MAX_DOCUMENT_BYTES),
            decoder,
            assembly: Assembly::default(),
            received: 0,
            failed: None,
            ended: false,
        };
        if whole {
            // A server that ignores `stream` sends one document; it is whole or does not parse.
            let mut body = Vec::new();
            while let Some(bytes) = reply.next_bytes().await? {
                body.extend_from_slice(&bytes);
            }
            let taken = reply.decoder.document(&body, &mut reply.assembly);
            taken.map_err(|error| if ends_early(&body) { cut_off() } else { error })?;
            if !reply.assembly.is_finished() {
                reply.assembly.record_ending(Ending::Complete);
            }
            reply.end()?;
        }
        Ok(reply)
    }

    /// Returns the next event. Events before an error are returned before it, however the two
    /// arrived.
    pub(super) async fn next_event(&mut self) -> Result<Option<ModelEvent>, ModelError> {
        loop {
            if let Some(event) = self.assembly.next_event() {
                return Ok(Some(event));
            }
            if let Some(error) = self.failed.take() {
                return Err(error);
            }
            if self.ended {
                return Ok(None);
            }
            if let Err(error) = self.read_on().await {
                self.failed = Some(error);
                self.ended = true;
            }
        }
    }

    async fn read_on(&mut self) -> Result<(), ModelError> {
        if let Some(bytes) = self.next_bytes().await? {
            return self.take_bytes(&bytes);
        }
        if let Some(document) = self.frames.last_document().map(<[u8]>::to_vec) {
            let taken = self.decoder.document(&document, &mut self.assembly);
            // An unfinished last line that does not parse was cut off.
            match taken {
                Err(error) if is_whole(&document) => return Err(error),
                Err(_) if !self.assembly.is_finished() => return Err(cut_off()),
                _ => {}
            }
        }
        self.end()
    }

    async fn next_bytes(&mut self) -> Result<Option<Bytes>, ModelError> {
        match self.timeouts.wait(self.response.chunk()).await? {
            Ok(Some(bytes)) => {
                self.received += bytes.len();
                if self.received > MAX_REPLY_BYTES {
                    let reason = format!("the reply is longer than {MAX_REPLY_BYTES} bytes");
                    return Err(ModelError::new(ModelFault::Malformed, reason));
                }
                Ok(Some(bytes))
            }
            Ok(None) => Ok(None),
            // A reply that was complete before a reset still counts.
            Err(_) if self.assembly.is_finished() => Ok(None),
            Err(error) => Err(ModelError::new(ModelFault::Cut, client::describe(&error))),
        }
    }

    fn take_bytes(&mut self, bytes: &[u8]) -> Result<(), ModelError> {
        self.frames.push(bytes);
        loop {
            let (decoder, assembly) = (&mut self.decoder, &mut self.assembly);
            let taken = self.frames.next_document(|document| decoder.document(document, assembly));
            let taken = taken
                .map_err(|_| ModelError::new(ModelFault::Malformed, "an event without an end"))?;
            match taken {
                Some(taken) => taken?,
                None => return Ok(()),
            }
            if self.assembly.is_closed() {
                self.end()?;
                // Reading to the very end lets the connection be used again; it is not worth a
                // wait.
                let _ = self.response.chunk().now_or_never();
                return Ok(());
            }
        }
    }

    fn end(&mut self) -> Result<(), ModelError> {
        self.ended = true;
        self.assembly.end()?;
        self.response.complete();
        Ok(())
    }
}

/// Tells whether the document is complete JSON, so that an error is about its content.
fn is_whole(document: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(document).is_ok()
}

/// Tells whether the document would be JSON if more of it had come.
fn ends_early(document: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(document).is_err_and(|error| error.is_eof())
}

fn cut_off() -> ModelError {
    ModelError::new(ModelFault::Cut, "in the middle of an event")
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.is_some_and(|kind| kind.starts_with("application/json"))
}

/// Reads a response that is not a success into an error.
pub(super) async fn read_refusal(
    mut response: IncomingResponse,
    timeouts: ReplyTimeouts,
) -> ModelError {
    const MAX_ERROR_BODY_BYTES: usize = 64 * 1024;
    let status = response.status().as_u16();
    let retry_after = retry_after(response.headers());
    let mut body = Vec::new();
    while let Ok(Ok(Some(chunk))) = timeouts.wait(response.chunk()).await {
        body.extend_from_slice(&chunk[..chunk.len().min(MAX_ERROR_BODY_BYTES - body.len())]);
        if body.len() >= MAX_ERROR_BODY_BYTES {
            break;
        }
    }
    ModelError::from_status(status, &String::from_utf8_lossy(&body), retry_after)
}

/// Returns the wait of `Retry-After`, in seconds or as a date, or of the header in milliseconds
/// that some providers send.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    // A header that is not one of these forms counts as absent.
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let milliseconds = text("retry-after-ms").and_then(|value| value.parse::<f64>().ok());
    let seconds = || text(RETRY_AFTER.as_str()).and_then(|value| value.parse::<f64>().ok());
    let figure = milliseconds.map(|value| value / 1000.0).or_else(seconds);
    let wait = figure.and_then(|seconds| Duration::try_from_secs_f64(seconds.max(0.0)).ok());
    wait.or_else(|| {
        let at = httpdate::parse_http_date(text(RETRY_AFTER.as_str())?).ok()?;
        // A date that has passed means now.
        Some(at.duration_since(std::time::SystemTime::now()).unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_read_as_seconds_as_a_date_and_as_milliseconds() {
        let read = |name: &'static str, value: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            retry_after(&headers)
        };
        assert_eq!(read("retry-after", "7"), Some(Duration::from_secs(7)));
        assert_eq!(read("retry-after", " 0.5 "), Some(Duration::from_millis(500)));
        assert_eq!(read("retry-after-ms", "1500"), Some(Duration::from_millis(1500)));
        let date = httpdate::fmt_http_date(std::time::SystemTime::now() + Duration::from_secs(90));
        let wait = read("retry-after", &date).unwrap();
        assert!((85..=90).contains(&wait.as_secs()), "{wait:?}");
        assert_eq!(read("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
        assert_eq!(read("retry-after", "-3"), Some(Duration::ZERO));
        assert_eq!(read("retry-after", "soon"), None);
        assert_eq!(read("retry-after", "1e400"), None);
    }
}
