//! Classifies what providers answer when they refuse or fail.

use super::ModelFault;

/// Classifies an HTTP status that is not a success, with its body in lower case.
pub(super) fn classify_status(status: u16, lower: &str) -> ModelFault {
    match (status, classify_message(lower)) {
        (402, _) | (401 | 403 | 429, Some(ModelFault::Quota)) => ModelFault::Quota,
        (401 | 403, _) => ModelFault::Authentication,
        (429, _) => ModelFault::RateLimited,
        (500.. | 408 | 409 | 425, _) => ModelFault::Overloaded,
        (413, _) => ModelFault::ContextTooLong,
        (_, Some(fault)) => fault,
        (404, None) => ModelFault::UnknownModel,
        (_, None) => ModelFault::BadRequest,
    }
}

/// Classifies a provider's message where the status alone is not enough, by names of error types
/// and by phrases that common servers use.
pub(super) fn classify_message(lower: &str) -> Option<ModelFault> {
    const PHRASES: [(ModelFault, &[&str]); 9] = [
        (
            ModelFault::Quota,
            &[
                "insufficient_quota",
                "billing",
                "credit balance",
                "exceeded your current quota",
                "usage limit",
            ],
        ),
        (
            ModelFault::ContextTooLong,
            &[
                "context_length",
                "context length",
                "context window",
                "context size",
                "prompt is too long",
                "input is too long",
                "exceeds the maximum number of tokens",
                "too many tokens",
                "input token count",
                "exceed_context_size",
            ],
        ),
        (
            ModelFault::ContentRefused,
            &[
                "content_filter",
                "content_policy",
                "content management policy",
                "content filtering policy",
                "safety system",
                "usage policy",
                "invalid_prompt",
            ],
        ),
        (
            ModelFault::ToolsUnsupported,
            &[
                "does not support tools",
                "does not support function",
                "tool use is not supported",
                "support tool use",
                "function calling is not enabled",
                "tools is not supported",
                "tool choice requires",
            ],
        ),
        (
            ModelFault::UnknownModel,
            &[
                "model_not_found",
                "model not found",
                "not found, try pulling",
                "does not exist",
                "not_found_error",
                "is not found for api version",
                "not a valid model",
                "no such model",
            ],
        ),
        (
            ModelFault::Authentication,
            &["authentication_error", "invalid_api_key", "api key not valid", "permission_error"],
        ),
        (ModelFault::RateLimited, &["rate_limit", "rate limit", "resource_exhausted"]),
        (ModelFault::Overloaded, &["overloaded", "unavailable", "server_error", "api_error"]),
        (ModelFault::TooSlow, &["deadline_exceeded", "timeout_error"]),
    ];
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| lower.contains(phrase));
    PHRASES.iter().find(|(_, phrases)| says(phrases)).map(|(fault, _)| *fault)
}

/// Returns the provider's message without the JSON around it.
pub(super) fn extract_message(body: &str) -> String {
    // A message that is no JSON is shown as it is.
    let words = serde_json::from_str(body).ok().and_then(|value| find_message(&value));
    words.unwrap_or_else(|| body.trim().to_owned())
}

/// Returns `error.message`, `error`, `message` or `detail`; Google wraps the whole in a list.
fn find_message(value: &serde_json::Value) -> Option<String> {
    match value {
        serde_json::Value::String(text) => Some(text.clone()),
        serde_json::Value::Array(values) => values.iter().find_map(find_message),
        serde_json::Value::Object(fields) => {
            ["error", "message", "detail"].iter().find_map(|name| find_message(fields.get(*name)?))
        }
        _ => None,
    }
}
