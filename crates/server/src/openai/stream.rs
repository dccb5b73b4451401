//! Sends an answer as a stream of server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::stream;
use serde::Serialize;
use tokio::sync::mpsc;

use super::EndpointState;
use super::error::ApiError;
use super::turn::TurnUpdate;
use super::turn_summary::{StepUpdate, TurnSummary};
use super::wire::{ChunkContent, build_chunk};

/// Sets how often a comment is sent while nothing happens, so that no proxy closes the connection
/// as idle.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(10);
/// Sets the size of a piece of the answer.
const PIECE_BYTES: usize = 256;

/// Holds the state of a running stream.
struct CompletionStream {
    shared: Arc<EndpointState>,
    updates: mpsc::Receiver<TurnUpdate>,
    /// The turn so far, for the fields of each piece.
    summary: TurnSummary,
    notices: Vec<&'static str>,
    include_usage: bool,
    started: bool,
    ended: bool,
}

pub(super) fn respond_with_stream(
    shared: Arc<EndpointState>,
    updates: mpsc::Receiver<TurnUpdate>,
    summary: TurnSummary,
    notices: Vec<&'static str>,
    include_usage: bool,
) -> Response {
    let stream = CompletionStream {
        shared,
        updates,
        summary,
        notices,
        include_usage,
        started: false,
        ended: false,
    };
    let body = stream::unfold(stream, |mut stream| async move {
        let bytes = stream.next().await?;
        Some((Ok::<Bytes, Infallible>(bytes), stream))
    });
    let headers = [
        (CONTENT_TYPE, "text/event-stream; charset=utf-8"),
        (CACHE_CONTROL, "no-cache, no-transform"),
    ];
    (headers, [("x-accel-buffering", "no")], Body::from_stream(body)).into_response()
}

impl CompletionStream {
    async fn next(&mut self) -> Option<Bytes> {
        if self.ended {
            return None;
        }
        if !self.started {
            self.started = true;
            return Some(self.render_piece(&ChunkContent::Role).into());
        }
        let updates = tokio::select! {
            biased;
            updates = self.updates.recv() => updates,
            () = self.shared.closing.cancelled() => {
                return Some(self.render_error(&ApiError::closing()));
            }
            () = tokio::time::sleep(KEEP_ALIVE_INTERVAL) => return Some(Bytes::from_static(b": working\n\n")),
        };
        match updates {
            Some(TurnUpdate::Update(StepUpdate::Step(step))) => {
                let text = self.render_piece(&ChunkContent::Step(&step));
                Some(text.into())
            }
            Some(TurnUpdate::Update(StepUpdate::Answer(_))) => {
                Some(Bytes::from_static(b": answered\n\n"))
            }
            Some(TurnUpdate::Ended(Ok(summary))) => {
                self.summary = *summary;
                Some(self.render_end())
            }
            Some(TurnUpdate::Ended(Err(error))) => Some(self.render_error(&error)),
            None => Some(self.render_error(&ApiError::closing())),
        }
    }

    /// Returns the answer in pieces, its end and the usage.
    fn render_end(&mut self) -> Bytes {
        self.ended = true;
        let answer = self.summary.answer.clone().unwrap_or_default();
        let mut text = String::new();
        let mut rest = answer.as_str();
        while !rest.is_empty() {
            let (piece, after) = rest.split_at(rest.ceil_char_boundary(PIECE_BYTES));
            text.push_str(&self.render_piece(&ChunkContent::Text(piece)));
            rest = after;
        }
        text.push_str(&self.render_piece(&ChunkContent::End));
        if self.include_usage {
            text.push_str(&self.render_piece(&ChunkContent::Usage));
        }
        text.push_str("data: [DONE]\n\n");
        text.into()
    }

    /// Ends the stream with an error. Official clients raise it when they read it.
    fn render_error(&mut self, error: &ApiError) -> Bytes {
        self.ended = true;
        let mut text = render_event(&error.body());
        text.push_str("data: [DONE]\n\n");
        text.into()
    }

    fn render_piece(&self, piece: &ChunkContent<'_>) -> String {
        render_event(&build_chunk(&self.summary, &self.notices, piece, self.include_usage))
    }
}

fn render_event(data: &impl Serialize) -> String {
    // Serialization fails only for maps with keys that are not text, and these types have none.
    let data = serde_json::to_string(data).unwrap_or_default();
    format!("data: {data}\n\n")
}
