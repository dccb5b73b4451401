//! Renders refusals as Anthropic does.

use serde::Serialize;

use crate::refusal::Refusal;
use crate::script::ErrorCase;

#[derive(Serialize)]
struct Body<'a> {
    r#type: &'static str,
    error: Error<'a>,
    request_id: &'static str,
}

#[derive(Serialize)]
struct Error<'a> {
    r#type: &'a str,
    message: &'a str,
}

/// Puts a refusal into Anthropic's shape.
pub(super) fn refusal(status: u16, message: &str) -> Refusal {
    let error = Error { r#type: type_of(status), message };
    Refusal::new(status, &Body { r#type: "error", error, request_id: "req_scripted" })
}

/// Refuses a request as Anthropic does in a case.
pub(super) fn refusal_in(case: ErrorCase, model: &str) -> Refusal {
    match case {
        ErrorCase::ContextTooLong => {
            refusal(400, "prompt is too long: 210000 tokens > 200000 maximum")
        }
        ErrorCase::Quota => refusal(
            400,
            "Your credit balance is too low to access the Anthropic API. Please go to Plans & \
             Billing to upgrade or purchase credits.",
        ),
        ErrorCase::Auth => refusal(401, "invalid x-api-key"),
        ErrorCase::UnknownModel => refusal(404, &format!("model: {model}")),
        ErrorCase::NoTools => refusal(400, &format!("'{model}' does not support tool use.")),
        ErrorCase::ContentRefused => refusal(400, "Output blocked by content filtering policy"),
        ErrorCase::Overloaded => refusal(529, "Overloaded"),
    }
}

fn type_of(status: u16) -> &'static str {
    match status {
        401 => "authentication_error",
        402 => "billing_error",
        403 => "permission_error",
        404 => "not_found_error",
        413 => "request_too_large",
        429 => "rate_limit_error",
        504 => "timeout_error",
        529 => "overloaded_error",
        500.. => "api_error",
        _ => "invalid_request_error",
    }
}
