//! Reads a response body and records it where a recording is on.

use bytes::Bytes;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;

use crate::tape::{ExchangeEnd, ExchangeRecorder};

/// Represents a response whose body is still coming.
pub(super) struct IncomingResponse {
    response: reqwest::Response,
    recorder: Option<ExchangeRecorder>,
}

impl IncomingResponse {
    pub(super) fn new(response: reqwest::Response, mut recorder: Option<ExchangeRecorder>) -> Self {
        if let Some(recorder) = &mut recorder {
            recorder.record_head(&response);
        }
        Self { response, recorder }
    }

    pub(super) fn status(&self) -> StatusCode {
        self.response.status()
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// Returns the next piece of the body.
    pub(super) async fn chunk(&mut self) -> reqwest::Result<Option<Bytes>> {
        let chunk = self.response.chunk().await;
        if let Some(recorder) = &mut self.recorder {
            match &chunk {
                Ok(Some(bytes)) => recorder.record_piece(bytes),
                Ok(None) => recorder.record_end(ExchangeEnd::Whole),
                Err(_) => recorder.record_end(ExchangeEnd::Broken),
            }
        }
        chunk
    }

    /// Records that the end mark has come; the connection may stay open.
    pub(super) fn complete(&mut self) {
        if let Some(recorder) = &mut self.recorder {
            recorder.record_end(ExchangeEnd::Whole);
        }
    }
}
