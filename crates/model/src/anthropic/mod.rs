//! Implements Anthropic's Messages API.

mod chunk;
mod wire;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::http::{Decoder, Dialect, Endpoint, Framing, ModelList, string_field};
use crate::{ListedModel, ModelRequest};

/// Holds one thinking block of a reply, signed by the server, that has to be sent back. The server
/// refuses a call whose thinking blocks are missing or changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Thought {
    Thinking {
        thinking: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    RedactedThinking {
        data: String,
    },
}

/// Implements the dialect of Anthropic's Messages API.
pub(crate) struct Anthropic;

impl Anthropic {
    /// Returns the base URL up to and including the version, which the usual setting of Anthropic's
    /// own clients lacks.
    fn versioned_url(base_url: &str) -> String {
        let version = if base_url.ends_with("/v1") { "" } else { "/v1" };
        format!("{base_url}{version}")
    }
}

impl Dialect for Anthropic {
    fn url(&self, base_url: &str, _: &str) -> String {
        format!("{}/messages", Self::versioned_url(base_url))
    }

    fn authorization(&self, key: &str) -> (&'static str, String) {
        ("x-api-key", key.to_owned())
    }

    fn headers(&self) -> &'static [(&'static str, &'static str)] {
        &[("anthropic-version", "2023-06-01")]
    }

    fn body(&self, endpoint: &Endpoint, request: &ModelRequest) -> serde_json::Result<Vec<u8>> {
        wire::serialize_body(endpoint, request)
    }

    fn framing(&self) -> Framing {
        Framing::Events
    }

    fn decoder(&self) -> Box<dyn Decoder> {
        Box::<chunk::AnthropicDecoder>::default()
    }

    fn model_list(&self) -> ModelList {
        ModelList {
            url: |base| format!("{}/models?limit=1000", Self::versioned_url(base)),
            field: "data",
            read: parse_model,
            details: None,
        }
    }
}

fn parse_model(model: &Value) -> Option<ListedModel> {
    Some(ListedModel {
        name: string_field(model, "id")?,
        window: model.get("max_input_tokens").and_then(Value::as_u64),
        tools: None,
        images: model.pointer("/capabilities/image_input/supported").and_then(Value::as_bool),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_in_the_address_once() {
        let url = |base| Anthropic.url(base, "m");
        assert_eq!(url("https://api.anthropic.com"), "https://api.anthropic.com/v1/messages");
        assert_eq!(url("https://example.org/a/v1"), "https://example.org/a/v1/messages");
    }
}
