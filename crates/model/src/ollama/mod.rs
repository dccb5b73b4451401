//! Implements Ollama's own chat API.

mod chunk;
mod wire;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::http::{
    Decoder, Dialect, Endpoint, Framing, ModelDetails, ModelList, lists_word, string_field,
};
use crate::{ListedModel, ModelRequest};

/// Holds the data that is sent back with a reply: some models lose the thread in the middle of a
/// turn without their own reasoning.
#[derive(Debug, Serialize, Deserialize)]
struct ProviderState {
    thinking: String,
}

/// Implements the dialect of Ollama's API.
pub(crate) struct Ollama;

impl Dialect for Ollama {
    fn url(&self, base_url: &str, _: &str) -> String {
        format!("{base_url}/api/chat")
    }

    fn authorization(&self, key: &str) -> (&'static str, String) {
        ("authorization", format!("Bearer {key}"))
    }

    fn body(&self, endpoint: &Endpoint, request: &ModelRequest) -> serde_json::Result<Vec<u8>> {
        wire::serialize_body(endpoint, request)
    }

    fn framing(&self) -> Framing {
        Framing::Lines
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::<chunk::OllamaDecoder>::default()
    }

    fn model_list(&self) -> ModelList {
        ModelList {
            url: |base| format!("{base}/api/tags"),
            field: "models",
            read: parse_model,
            // The server reports the capabilities of each model separately.
            details: Some(ModelDetails {
                url: |base| format!("{base}/api/show"),
                read: add_details,
            }),
        }
    }
}

fn parse_model(model: &Value) -> Option<ListedModel> {
    let name = string_field(model, "model").or_else(|| string_field(model, "name"))?;
    Some(ListedModel { name, ..ListedModel::default() })
}

fn add_details(model: ListedModel, shown: &Value) -> ListedModel {
    let capabilities = shown.get("capabilities");
    // The field is named after the model's architecture, such as `qwen3.context_length`.
    let info = shown.get("model_info").and_then(Value::as_object);
    let length = info.into_iter().flatten().find(|(key, _)| key.ends_with(".context_length"));
    ListedModel {
        window: length.and_then(|(_, value)| value.as_u64()),
        tools: lists_word(capabilities, "tools"),
        images: lists_word(capabilities, "vision"),
        ..model
    }
}
