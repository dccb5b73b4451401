//! Implements the OpenAI chat-completions API, for OpenAI itself and every server that speaks it.

mod chunk;
mod tool;
mod wire;

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use tool::WireTool;

use crate::http::{
    Decoder, Dialect, Endpoint, Framing, ModelList, Quirks, lists_word, string_field,
};
use crate::{ListedModel, ModelRequest};

/// Holds the data that is sent back with a reply: servers whose models reason in
/// `reasoning_content` refuse later calls of the same turn without it.
#[derive(Debug, Serialize, Deserialize)]
struct ProviderState {
    reasoning_content: String,
}

impl ProviderState {
    fn to_json(&self) -> String {
        // A text always serialises.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// Implements the dialect of the chat-completions API.
pub(crate) struct OpenAi;

impl Dialect for OpenAi {
    fn url(&self, base_url: &str, _: &str) -> String {
        format!("{base_url}/chat/completions")
    }

    fn authorization(&self, key: &str) -> (&'static str, String) {
        ("authorization", format!("Bearer {key}"))
    }

    fn body(&self, endpoint: &Endpoint, request: &ModelRequest) -> serde_json::Result<Vec<u8>> {
        wire::serialize_body(endpoint, request)
    }

    fn body_for(
        &self,
        endpoint: &Endpoint,
        request: &ModelRequest,
        quirks: Quirks,
    ) -> serde_json::Result<Vec<u8>> {
        wire::serialize_body_for(endpoint, request, quirks)
    }

    fn framing(&self) -> Framing {
        Framing::Events
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::<chunk::OpenAiDecoder>::default()
    }

    fn model_list(&self) -> ModelList {
        ModelList {
            url: |base| format!("{base}/models"),
            field: "data",
            read: parse_model,
            details: None,
        }
    }
}

/// Reads an entry of the model list. OpenAI reports the name alone; other servers add fields of
/// their own.
fn parse_model(model: &Value) -> Option<ListedModel> {
    const WINDOWS: [&str; 6] = [
        "/context_length",
        "/max_model_len",
        "/context_window",
        "/max_context_length",
        "/meta/n_ctx",
        "/meta/n_ctx_train",
    ];
    let flag = |pointer| model.pointer(pointer).and_then(Value::as_bool);
    Some(ListedModel {
        name: string_field(model, "id")?,
        window: WINDOWS.iter().find_map(|pointer| model.pointer(pointer)?.as_u64()),
        tools: lists_word(model.get("supported_parameters"), "tools")
            .or_else(|| flag("/capabilities/function_calling")),
        images: lists_word(model.pointer("/architecture/input_modalities"), "image")
            .or_else(|| flag("/capabilities/vision")),
    })
}
