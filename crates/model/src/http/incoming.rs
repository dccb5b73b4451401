//! A response under way, recorded where somebody asked for it.

use bytes::Bytes;
use reqwest::StatusCode;
use reqwest::header::HeaderMap;

use crate::tape::{ExchangeEnd, Take};

/// A response whose body is still coming.
pub(super) struct Incoming {
    response: reqwest::Response,
    take: Option<Take>,
}

impl Incoming {
    pub(super) fn new(response: reqwest::Response, mut take: Option<Take>) -> Self {
        if let Some(take) = &mut take {
            take.response(&response);
        }
        Self { response, take }
    }

    pub(super) fn status(&self) -> StatusCode {
        self.response.status()
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }

    /// The next piece of the body.
    pub(super) async fn chunk(&mut self) -> reqwest::Result<Option<Bytes>> {
        let chunk = self.response.chunk().await;
        if let Some(take) = &mut self.take {
            match &chunk {
                Ok(Some(bytes)) => take.piece(bytes),
                Ok(None) => take.end(ExchangeEnd::Whole),
                Err(_) => take.end(ExchangeEnd::Broken),
            }
        }
        chunk
    }

    /// The end mark has come; the connection may stay open.
    pub(super) fn complete(&mut self) {
        if let Some(take) = &mut self.take {
            take.end(ExchangeEnd::Whole);
        }
    }
}
