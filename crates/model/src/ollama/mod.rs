//! Ollama's own chat wire.

mod chunk;
mod wire;

use serde::{Deserialize, Serialize};

use crate::ModelRequest;
use crate::http::{Decoder, Dialect, Endpoint, Framing};

/// What goes back with a reply: some models lose their thread in the middle of a turn without
/// their own thoughts.
#[derive(Debug, Serialize, Deserialize)]
struct Keepsake {
    thinking: String,
}

/// The dialect.
pub(crate) struct Ollama;

impl Dialect for Ollama {
    fn url(&self, base_url: &str, _: &str) -> String {
        format!("{base_url}/api/chat")
    }

    fn authorization(&self, key: &str) -> (&'static str, String) {
        ("authorization", format!("Bearer {key}"))
    }

    fn body(&self, endpoint: &Endpoint, request: &ModelRequest) -> serde_json::Result<Vec<u8>> {
        wire::body(endpoint, request)
    }

    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::<chunk::Lines>::default()
    }
}
