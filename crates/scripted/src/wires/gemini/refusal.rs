//! Renders refusals as Google does.

use serde::Serialize;
use serde_json::{Value, json};

use crate::refusal::Refusal;
use crate::script::ErrorCase;

#[derive(Serialize)]
struct Body<'a> {
    error: Error<'a>,
}

#[derive(Serialize)]
struct Error<'a> {
    code: u16,
    message: &'a str,
    status: &'static str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    details: Vec<Value>,
}

/// Puts a refusal into Google's shape.
pub(super) fn refusal(status: u16, message: &str) -> Refusal {
    with_details(status, message, Vec::new())
}

fn with_details(code: u16, message: &str, details: Vec<Value>) -> Refusal {
    let error = Error { code, message, status: status_of(code), details };
    Refusal::new(code, &Body { error })
}

/// Refuses a request as Google does in a case. `None`: it does not refuse, but answers nothing.
pub(super) fn refusal_in(case: ErrorCase, model: &str) -> Option<Refusal> {
    let refuse = |status: u16, message: &str, details: Vec<Value>| {
        Some(with_details(status, message, details))
    };
    match case {
        ErrorCase::ContextTooLong => refuse(
            400,
            "The input token count (1200000) exceeds the maximum number of tokens allowed \
             (1048576).",
            Vec::new(),
        ),
        ErrorCase::Quota => refuse(
            429,
            "You exceeded your current quota, please check your plan and billing details. For more \
             information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.",
            quota_details(model),
        ),
        ErrorCase::Auth => refuse(
            400,
            "API key not valid. Please pass a valid API key.",
            vec![json!({
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": "API_KEY_INVALID",
                "domain": "googleapis.com",
            })],
        ),
        ErrorCase::UnknownModel => refuse(
            404,
            &format!(
                "models/{model} is not found for API version v1beta, or is not supported for \
                 generateContent. Call ListModels to see the list of available models and their \
                 supported methods."
            ),
            Vec::new(),
        ),
        ErrorCase::NoTools => {
            refuse(400, &format!("Function calling is not enabled for models/{model}"), Vec::new())
        }
        // The answer is a success without anything in it.
        ErrorCase::ContentRefused => None,
        ErrorCase::Overloaded => {
            refuse(503, "The model is overloaded. Please try again later.", Vec::new())
        }
    }
}

fn quota_details(model: &str) -> Vec<Value> {
    let failure = json!({
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        "violations": [{
            "quotaMetric":
                "generativelanguage.googleapis.com/generate_content_free_tier_requests",
            "quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
            "quotaDimensions": {"location": "global", "model": model},
            "quotaValue": "50",
        }],
    });
    let retry = json!({
        "@type": "type.googleapis.com/google.rpc.RetryInfo",
        "retryDelay": "36s",
    });
    vec![failure, retry]
}

fn status_of(status: u16) -> &'static str {
    match status {
        401 => "UNAUTHENTICATED",
        403 => "PERMISSION_DENIED",
        404 => "NOT_FOUND",
        409 => "ABORTED",
        429 => "RESOURCE_EXHAUSTED",
        503 => "UNAVAILABLE",
        504 => "DEADLINE_EXCEEDED",
        500.. => "INTERNAL",
        _ => "INVALID_ARGUMENT",
    }
}
