//! Renders refusals as OpenAI does.

use serde::Serialize;

use crate::refusal::Refusal;
use crate::script::ErrorCase;

#[derive(Serialize)]
struct Body<'a> {
    error: Error<'a>,
}

#[derive(Serialize)]
struct Error<'a> {
    message: &'a str,
    r#type: &'a str,
    param: Option<&'a str>,
    code: Option<&'a str>,
}

/// Puts a refusal into OpenAI's shape.
pub(super) fn refusal(status: u16, message: &str) -> Refusal {
    let error = Error { message, r#type: type_of(status), param: None, code: None };
    Refusal::new(status, &Body { error })
}

/// Refuses a request as OpenAI does in a case.
pub(super) fn refusal_in(case: ErrorCase, model: &str) -> Refusal {
    let unknown = format!("The model `{model}` does not exist or you do not have access to it.");
    let refuse = |status: u16, message: &str, kind: Option<&str>, code: Option<&str>| {
        let param = (code == Some("context_length_exceeded")).then_some("messages");
        let kind = kind.unwrap_or(type_of(status));
        Refusal::new(status, &Body { error: Error { message, r#type: kind, param, code } })
    };
    match case {
        ErrorCase::ContextTooLong => refuse(
            400,
            "This model's maximum context length is 128000 tokens. However, your messages resulted \
             in 140000 tokens. Please reduce the length of the messages.",
            None,
            Some("context_length_exceeded"),
        ),
        ErrorCase::Quota => refuse(
            429,
            "You exceeded your current quota, please check your plan and billing details. For more \
             information on this error, read the docs: \
             https://platform.openai.com/docs/guides/error-codes/api-errors.",
            Some("insufficient_quota"),
            Some("insufficient_quota"),
        ),
        ErrorCase::Auth => refuse(
            401,
            "Incorrect API key provided: sk-scripted. You can find your API key at \
             https://platform.openai.com/account/api-keys.",
            None,
            Some("invalid_api_key"),
        ),
        ErrorCase::UnknownModel => refuse(404, &unknown, None, Some("model_not_found")),
        ErrorCase::NoTools => refuse(
            400,
            "tools is not supported in this model. For a list of supported models, refer to \
             https://platform.openai.com/docs/guides/function-calling#models-supporting-function-calling.",
            None,
            None,
        ),
        ErrorCase::ContentRefused => refuse(
            400,
            "Invalid prompt: your prompt was flagged as potentially violating our usage policy. \
             Please try again with a different prompt: \
             https://platform.openai.com/docs/guides/reasoning#advice-on-prompting",
            None,
            Some("invalid_prompt"),
        ),
        ErrorCase::Overloaded => {
            refuse(503, "The engine is currently overloaded, please try again later", None, None)
        }
    }
}

fn type_of(status: u16) -> &'static str {
    match status {
        429 => "rate_limit_error",
        500.. => "server_error",
        _ => "invalid_request_error",
    }
}
