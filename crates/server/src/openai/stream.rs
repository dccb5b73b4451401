//! An answer as a stream of server-sent events.

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

use super::Shared;
use super::error::ApiError;
use super::telling::{Telling, Update};
use super::turn::News;
use super::wire::{Piece, chunk};

/// How often a client hears something while nothing happens, so that nothing between it and here
/// takes the connection for dead.
const KEEP_ALIVE: Duration = Duration::from_secs(10);
/// The size of a piece of the answer.
const PIECE: usize = 256;

/// A stream under way.
struct Stream {
    shared: Arc<Shared>,
    news: mpsc::Receiver<News>,
    /// What is known of the turn, for the fields of each piece.
    telling: Telling,
    notices: Vec<&'static str>,
    include_usage: bool,
    begun: bool,
    ended: bool,
}

pub(super) fn respond(
    shared: Arc<Shared>,
    news: mpsc::Receiver<News>,
    telling: Telling,
    notices: Vec<&'static str>,
    include_usage: bool,
) -> Response {
    let stream =
        Stream { shared, news, telling, notices, include_usage, begun: false, ended: false };
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

impl Stream {
    async fn next(&mut self) -> Option<Bytes> {
        if self.ended {
            return None;
        }
        if !self.begun {
            self.begun = true;
            return Some(self.piece(&Piece::Role).into());
        }
        let news = tokio::select! {
            biased;
            news = self.news.recv() => news,
            () = self.shared.closing.cancelled() => {
                return Some(self.error(&ApiError::closing()));
            }
            () = tokio::time::sleep(KEEP_ALIVE) => return Some(Bytes::from_static(b": working\n\n")),
        };
        match news {
            Some(News::Update(Update::Step(step))) => {
                let text = self.piece(&Piece::Step(&step));
                Some(text.into())
            }
            Some(News::Update(Update::Answer(_))) => Some(Bytes::from_static(b": answered\n\n")),
            Some(News::Ended(Ok(telling))) => {
                self.telling = *telling;
                Some(self.end())
            }
            Some(News::Ended(Err(error))) => Some(self.error(&error)),
            None => Some(self.error(&ApiError::closing())),
        }
    }

    /// The answer in pieces, its end, and the figures.
    fn end(&mut self) -> Bytes {
        self.ended = true;
        let answer = self.telling.answer.clone().unwrap_or_default();
        let mut text = String::new();
        let mut rest = answer.as_str();
        while !rest.is_empty() {
            let end = (PIECE.min(rest.len())..=rest.len())
                .find(|at| rest.is_char_boundary(*at))
                .unwrap_or(rest.len());
            let (piece, after) = rest.split_at(end);
            text.push_str(&self.piece(&Piece::Text(piece)));
            rest = after;
        }
        text.push_str(&self.piece(&Piece::End));
        if self.include_usage {
            text.push_str(&self.piece(&Piece::Usage));
        }
        text.push_str("data: [DONE]\n\n");
        text.into()
    }

    /// An error ends the stream. Official clients raise it when they read it.
    fn error(&mut self, error: &ApiError) -> Bytes {
        self.ended = true;
        let mut text = event(&error.body());
        text.push_str("data: [DONE]\n\n");
        text.into()
    }

    fn piece(&self, piece: &Piece<'_>) -> String {
        event(&chunk(&self.telling, &self.notices, piece, self.include_usage))
    }
}

fn event(data: &impl Serialize) -> String {
    // These types have no maps with other keys than text, which is all that could fail.
    let data = serde_json::to_string(data).unwrap_or_default();
    format!("data: {data}\n\n")
}
