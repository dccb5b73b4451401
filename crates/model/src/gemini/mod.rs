//! Implements Google's `generateContent` API.

mod chunk;
mod wire;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::http::{Decoder, Dialect, Endpoint, Framing, ModelList, lists_word, string_field};
use crate::{ListedModel, ModelRequest};

/// Holds the data that is sent back with a reply: signatures of the thoughts behind its parts, and
/// the ids the server gave its calls.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct ProviderState {
    /// The signature of the text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// The id and the signature of each call, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    calls: Vec<CallState>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct CallState {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
}

/// Implements the dialect of Google's `generateContent` API.
pub(crate) struct Gemini;

impl Dialect for Gemini {
    fn url(&self, base_url: &str, model: &str) -> String {
        let model = model.strip_prefix("models/").unwrap_or(model);
        format!("{base_url}/models/{model}:streamGenerateContent?alt=sse")
    }

    fn authorization(&self, key: &str) -> (&'static str, String) {
        ("x-goog-api-key", key.to_owned())
    }

    fn body(&self, endpoint: &Endpoint, request: &ModelRequest) -> serde_json::Result<Vec<u8>> {
        wire::serialize_body(endpoint, request)
    }

    fn framing(&self) -> Framing {
        Framing::Events
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::<chunk::GeminiDecoder>::default()
    }

    fn model_list(&self) -> ModelList {
        ModelList {
            url: |base| format!("{base}/models?pageSize=1000"),
            field: "models",
            read: parse_model,
            details: None,
        }
    }
}

fn parse_model(model: &Value) -> Option<ListedModel> {
    let talks = lists_word(model.get("supportedGenerationMethods"), "generateContent");
    let name = string_field(model, "name")?;
    (talks == Some(true)).then(|| ListedModel {
        name: name.strip_prefix("models/").unwrap_or(&name).to_owned(),
        window: model.get("inputTokenLimit").and_then(Value::as_u64),
        tools: None,
        images: None,
    })
}
