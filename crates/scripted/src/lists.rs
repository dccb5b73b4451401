//! What the server says about its models.

use hyper::header::HeaderMap;
use hyper::{Method, StatusCode};
use lango_model::Wire;

use super::refusal::Refusal;

const OPENAI: &str = r#"{"object":"list","data":[{"id":"scripted","object":"model","created":1767225600,"owned_by":"lango"}]}"#;
const ANTHROPIC: &str = r#"{"data":[{"type":"model","id":"scripted","display_name":"Scripted","created_at":"2026-01-01T00:00:00Z"}],"has_more":false,"first_id":"scripted","last_id":"scripted"}"#;
const GEMINI: &str = r#"{"models":[{"name":"models/scripted","version":"001","displayName":"Scripted","description":"","inputTokenLimit":1048576,"outputTokenLimit":65536,"supportedGenerationMethods":["generateContent","countTokens"],"thinking":true}]}"#;
const TAGS: &str = r#"{"models":[{"name":"scripted:latest","model":"scripted:latest","modified_at":"2026-01-01T00:00:00Z","size":1,"digest":"0000000000000000","details":{"parent_model":"","format":"gguf","family":"scripted","families":["scripted"],"parameter_size":"1B","quantization_level":"Q4_K_M"}}]}"#;
const SHOW: &str = r#"{"modelfile":"","parameters":"num_ctx 32768","template":"{{ .Prompt }}","details":{"parent_model":"","format":"gguf","family":"scripted","families":["scripted"],"parameter_size":"1B","quantization_level":"Q4_K_M"},"model_info":{"general.architecture":"scripted","scripted.context_length":131072},"capabilities":["completion","tools","vision","thinking"]}"#;
const VERSION: &str = r#"{"version":"0.12.6"}"#;

/// The answer to a question about models; `None` where nothing of that name is known.
pub(super) fn answer(method: &Method, path: &str, headers: &HeaderMap) -> Option<&'static str> {
    let get = method == Method::GET;
    match path {
        "/v1/models" if get && headers.contains_key("anthropic-version") => Some(ANTHROPIC),
        "/v1/models" if get => Some(OPENAI),
        "/v1beta/models" if get => Some(GEMINI),
        "/api/tags" if get => Some(TAGS),
        "/api/version" if get => Some(VERSION),
        "/api/show" if method == Method::POST => Some(SHOW),
        _ => None,
    }
}

/// There is nothing at this path.
pub(super) fn nothing_here(method: &Method, path: &str) -> Refusal {
    let message = format!("Invalid URL ({method} {path})");
    Refusal::new(Wire::OpenAi, StatusCode::NOT_FOUND.as_u16(), &message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_is_json() {
        for list in [OPENAI, ANTHROPIC, GEMINI, TAGS, SHOW, VERSION] {
            assert!(serde_json::from_str::<serde_json::Value>(list).is_ok(), "{list}");
        }
    }
}
