//! Writes a recording.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use super::{ExchangeEnd, RECORDING_HEADER, RecordedExchange};
use crate::Endpoint;

/// Replaces a secret.
const SECRET_PLACEHOLDER: &str = "[secret]";

/// Writes a recording.
#[derive(Debug)]
pub struct RecordingWriter {
    /// Held while one exchange is written.
    state: Mutex<WriterState>,
}

#[derive(Debug)]
struct WriterState {
    file: File,
    secrets: Vec<String>,
    error: Option<io::Error>,
}

impl RecordingWriter {
    /// Begins a recording in a new file, which only its owner can read: a conversation is private.
    pub fn create(path: &Path) -> io::Result<Arc<Self>> {
        let mut options = File::options();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        writeln!(file, "{RECORDING_HEADER}")?;
        let state = WriterState { file, secrets: Vec::new(), error: None };
        Ok(Arc::new(Self { state: Mutex::new(state) }))
    }

    /// Adds a value that must not be recorded.
    pub fn add_secret(&self, secret: &str) {
        // Shorter ones would be found everywhere.
        if secret.len() >= 6 {
            self.state().secrets.push(secret.to_owned());
        }
    }

    /// Returns the first error of writing, if there was one.
    pub fn take_error(&self) -> Option<io::Error> {
        self.state().error.take()
    }

    /// Begins an exchange.
    pub(crate) fn begin_exchange(
        self: &Arc<Self>,
        endpoint: &Endpoint,
        body: &[u8],
    ) -> ExchangeRecorder {
        let exchange = RecordedExchange {
            provider: endpoint.id.provider.clone(),
            model: endpoint.id.model.clone(),
            wire: endpoint.wire,
            request: String::from_utf8_lossy(body).into_owned(),
            status: None,
            content_type: None,
            retry_after: None,
            pieces: Vec::new(),
            end: ExchangeEnd::Abandoned,
        };
        ExchangeRecorder { tape: Arc::clone(self), exchange, pending: Vec::new() }
    }

    fn write(&self, mut exchange: RecordedExchange) {
        let mut state = self.state();
        exchange.request = hide_secrets(&exchange.request, &state.secrets);
        exchange.pieces = hide_secrets_in_pieces(&exchange.pieces, &state.secrets);
        let written = serde_json::to_string(&exchange)
            .map_err(io::Error::from)
            .and_then(|line| writeln!(state.file, "{line}"));
        if let Err(error) = written {
            state.error.get_or_insert(error);
        }
    }

    fn state(&self) -> MutexGuard<'_, WriterState> {
        self.state.lock()
    }
}

fn hide_secrets(text: &str, secrets: &[String]) -> String {
    secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, SECRET_PLACEHOLDER))
}

/// Hides secrets, including one that lies across two pieces; the pieces are then joined.
fn hide_secrets_in_pieces(pieces: &[String], secrets: &[String]) -> Vec<String> {
    let apart: Vec<String> = pieces.iter().map(|piece| hide_secrets(piece, secrets)).collect();
    let whole = hide_secrets(&pieces.concat(), secrets);
    if apart.concat() == whole { apart } else { vec![whole] }
}

/// Records one exchange. It is written when this is dropped, in every case.
#[derive(Debug)]
pub(crate) struct ExchangeRecorder {
    tape: Arc<RecordingWriter>,
    exchange: RecordedExchange,
    /// The beginning of a character whose rest comes with the next piece.
    pending: Vec<u8>,
}

impl ExchangeRecorder {
    /// Records the head of the response.
    pub(crate) fn record_head(&mut self, response: &reqwest::Response) {
        let header = |name: &str| {
            // A header that is no text is not read by the dialects either.
            let value = response.headers().get(name)?.to_str().ok()?;
            Some(value.to_owned())
        };
        self.exchange.status = Some(response.status().as_u16());
        self.exchange.content_type = header("content-type");
        self.exchange.retry_after = header("retry-after");
    }

    /// Records a piece of the body.
    pub(crate) fn record_piece(&mut self, bytes: &[u8]) {
        self.pending.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.pending) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.pending.len(),
        };
        let rest = self.pending.split_off(whole);
        let piece = std::mem::replace(&mut self.pending, rest);
        if !piece.is_empty() {
            self.exchange.pieces.push(String::from_utf8_lossy(&piece).into_owned());
        }
    }

    /// Records how the exchange ended.
    pub(crate) fn record_end(&mut self, end: ExchangeEnd) {
        self.exchange.end = end;
    }
}

impl Drop for ExchangeRecorder {
    fn drop(&mut self) {
        if !self.pending.is_empty() {
            let rest = String::from_utf8_lossy(&std::mem::take(&mut self.pending)).into_owned();
            self.exchange.pieces.push(rest);
        }
        let exchange = self.exchange.clone();
        self.tape.write(exchange);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ModelId, Wire};

    #[test]
    fn a_recording_has_every_byte_and_no_secret() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("tape.jsonl");
        let tape = RecordingWriter::create(&path).unwrap();
        assert!(RecordingWriter::create(&path).is_err(), "a recording is never overwritten");
        tape.add_secret("sk-very-secret");
        let endpoint = Endpoint::new(ModelId::new("p", "m"), Wire::Ollama, "http://127.0.0.1:1");
        let mut exchange = tape.begin_exchange(&endpoint, br#"{"key":"sk-very-secret"}"#);
        let body = "data: \u{1f30d} sk-very-secret end";
        for byte in body.as_bytes() {
            exchange.record_piece(&[*byte]);
        }
        exchange.record_end(ExchangeEnd::Whole);
        drop(exchange);
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("very-secret"), "{text}");
        let (mark, line) = text.split_once('\n').unwrap();
        assert_eq!(mark, RECORDING_HEADER);
        let exchange: RecordedExchange = serde_json::from_str(line).unwrap();
        assert_eq!(exchange.pieces.concat(), body.replace("sk-very-secret", SECRET_PLACEHOLDER));
        assert_eq!((exchange.end, exchange.wire), (ExchangeEnd::Whole, Wire::Ollama));
        assert!(tape.take_error().is_none());
    }
}
