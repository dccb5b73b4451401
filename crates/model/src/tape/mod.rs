//! Records requests and responses to the byte, for bug reports and tests.
//!
//! A recording is a text file with one JSON document on each line: a mark, then an exchange for
//! each request, in the order in which they ended. Keys are never part of it: headers that are
//! sent are not recorded, and a secret in a body is replaced wherever it is found. A recording
//! can be played again as a scripted model.

mod record;

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::{ModelId, Wire};

pub(crate) use record::ExchangeRecorder;
pub use record::RecordingWriter;

/// The first line of every recording.
const RECORDING_HEADER: &str = r#"{"lango_recording":1}"#;

/// Records one request and its response.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedExchange {
    /// The provider that was asked.
    pub provider: String,
    /// The model that was asked, without its provider.
    pub model: String,
    /// The wire that was spoken.
    pub wire: Wire,
    /// The body that was sent, without secrets.
    pub request: String,
    /// The HTTP status, absent when nothing came back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The type that the server gave for the body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// The server's `Retry-After` header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after: Option<String>,
    /// The body as it arrived, piece by piece.
    pub pieces: Vec<String>,
    /// The end of the exchange.
    pub end: ExchangeEnd,
}

/// Says how an exchange ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExchangeEnd {
    /// The response was complete.
    Whole,
    /// The connection broke, or never was.
    Broken,
    /// Nothing more came, or the client stopped waiting for it.
    Abandoned,
}

impl RecordedExchange {
    /// Returns which model was asked.
    pub fn id(&self) -> ModelId {
        ModelId::new(&self.provider, &self.model)
    }

    /// Returns the agent that sent the request.
    pub fn agent(&self) -> Option<&str> {
        Self::agent_in(&self.request)
    }

    /// Returns the name in `You are NAME, …`, with which every agent's instruction begins on every
    /// API.
    pub fn agent_in(request: &str) -> Option<&str> {
        let (_, rest) = request.split_once("\"You are ")?;
        rest.split([',', '.', '\\', ' ', '"']).next().filter(|name| !name.is_empty())
    }
}

/// Describes a file that is not a recording.
#[derive(Debug, thiserror::Error)]
#[error("{} cannot be replayed: {reason}", path.display())]
pub struct RecordingError {
    path: PathBuf,
    reason: String,
}

/// Holds a recording that was read.
#[derive(Debug, Clone)]
pub struct LoadedRecording {
    exchanges: Vec<RecordedExchange>,
}

impl LoadedRecording {
    /// Reads a recording.
    pub fn read(path: &Path) -> Result<Self, RecordingError> {
        let error = |reason: String| RecordingError { path: path.to_owned(), reason };
        let text = std::fs::read_to_string(path).map_err(|problem| error(problem.to_string()))?;
        let mut lines = text.lines();
        if lines.next() != Some(RECORDING_HEADER) {
            return Err(error("it is not a recording of this version".to_owned()));
        }
        let exchanges: Result<Vec<RecordedExchange>, _> = lines.map(serde_json::from_str).collect();
        let exchanges = exchanges.map_err(|problem| error(problem.to_string()))?;
        if exchanges.is_empty() {
            return Err(error("nothing was recorded".to_owned()));
        }
        Ok(Self { exchanges })
    }

    /// Returns the exchanges, in the order in which they ended.
    pub fn exchanges(&self) -> &[RecordedExchange] {
        &self.exchanges
    }
}
