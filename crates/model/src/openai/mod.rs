//! The OpenAI chat-completions wire, for OpenAI itself and every server that speaks it.

mod chunk;
mod tool;
mod wire;

use serde::{Deserialize, Serialize};

pub(crate) use tool::WireTool;

use crate::ModelRequest;
use crate::http::{Decoder, Dialect, Endpoint, Framing, Quirks};

/// What goes back to the server with its own reply: servers whose models think in
/// `reasoning_content` refuse later calls of the same turn without it.
#[derive(Debug, Serialize, Deserialize)]
struct Keepsake {
    reasoning_content: String,
}

impl Keepsake {
    fn to_json(&self) -> String {
        // A text always serialises.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The dialect.
pub(crate) struct OpenAi;

impl Dialect for OpenAi {
    fn url(&self, base_url: &str, _: &str) -> String {
        format!("{base_url}/chat/completions")
    }

    fn authorization(&self, key: &str) -> (&'static str, String) {
        ("authorization", format!("Bearer {key}"))
    }

    fn body(&self, endpoint: &Endpoint, request: &ModelRequest) -> serde_json::Result<Vec<u8>> {
        wire::body(endpoint, request)
    }

    fn body_for(
        &self,
        endpoint: &Endpoint,
        request: &ModelRequest,
        quirks: Quirks,
    ) -> serde_json::Result<Vec<u8>> {
        wire::body_for(endpoint, request, quirks)
    }

    fn framing(&self) -> Framing {
        Framing::Events
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::<chunk::Chunks>::default()
    }
}
