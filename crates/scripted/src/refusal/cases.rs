//! What each provider answers in the cases that scripts can name.

use lango_model::Wire;

use super::{Refusal, Words};
use crate::script::ErrorCase;

pub(super) fn openai(case: ErrorCase, model: &str) -> Refusal {
    let unknown = format!("The model `{model}` does not exist or you do not have access to it.");
    let refuse = |status: u16, message: &str, kind: Option<&str>, code: Option<&str>| {
        let param = (code == Some("context_length_exceeded")).then_some("messages");
        let words = Words { message, kind, code, param, details: Vec::new() };
        Refusal::in_words(Wire::OpenAi, status, words)
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

pub(super) fn anthropic(case: ErrorCase, model: &str) -> Refusal {
    let refuse = |status: u16, message: &str| Refusal::new(Wire::Anthropic, status, message);
    match case {
        ErrorCase::ContextTooLong => {
            refuse(400, "prompt is too long: 210000 tokens > 200000 maximum")
        }
        ErrorCase::Quota => refuse(
            400,
            "Your credit balance is too low to access the Anthropic API. Please go to Plans & \
             Billing to upgrade or purchase credits.",
        ),
        ErrorCase::Auth => refuse(401, "invalid x-api-key"),
        ErrorCase::UnknownModel => refuse(404, &format!("model: {model}")),
        ErrorCase::NoTools => refuse(400, &format!("'{model}' does not support tool use.")),
        ErrorCase::ContentRefused => refuse(400, "Output blocked by content filtering policy"),
        ErrorCase::Overloaded => refuse(529, "Overloaded"),
    }
}

pub(super) fn gemini(case: ErrorCase, model: &str) -> Option<Refusal> {
    let refuse = |status: u16, message: &str, details: Vec<serde_json::Value>| {
        let words = Words { message, details, ..Words::default() };
        Some(Refusal::in_words(Wire::Gemini, status, words))
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
            vec![serde_json::json!({
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

fn quota_details(model: &str) -> Vec<serde_json::Value> {
    let failure = serde_json::json!({
        "@type": "type.googleapis.com/google.rpc.QuotaFailure",
        "violations": [{
            "quotaMetric":
                "generativelanguage.googleapis.com/generate_content_free_tier_requests",
            "quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
            "quotaDimensions": {"location": "global", "model": model},
            "quotaValue": "50",
        }],
    });
    let retry = serde_json::json!({
        "@type": "type.googleapis.com/google.rpc.RetryInfo",
        "retryDelay": "36s",
    });
    vec![failure, retry]
}

pub(super) fn ollama(case: ErrorCase, model: &str) -> Refusal {
    let refuse = |status: u16, message: &str| Refusal::new(Wire::Ollama, status, message);
    match case {
        ErrorCase::ContextTooLong => {
            refuse(400, "prompt too long; exceeded max context length by 4096 tokens")
        }
        ErrorCase::Quota => refuse(
            429,
            "you (scripted) have reached your weekly usage limit, upgrade for higher limits: \
             https://ollama.com/upgrade",
        ),
        ErrorCase::Auth => refuse(401, "unauthorized"),
        ErrorCase::UnknownModel => {
            refuse(404, &format!("model '{model}' not found, try pulling it first"))
        }
        ErrorCase::NoTools => {
            refuse(400, &format!("registry.ollama.ai/library/{model} does not support tools"))
        }
        ErrorCase::ContentRefused => {
            refuse(422, "the script wants a refusal for content, which Ollama does not have")
        }
        ErrorCase::Overloaded => {
            refuse(503, "server busy, please try again.  maximum pending requests exceeded")
        }
    }
}
