//! Renders refusals as Ollama does.

use serde::Serialize;

use crate::refusal::Refusal;
use crate::script::ErrorCase;

#[derive(Serialize)]
struct Body<'a> {
    error: &'a str,
}

/// Puts a refusal into Ollama's shape.
pub(super) fn refusal(status: u16, message: &str) -> Refusal {
    Refusal::new(status, &Body { error: message })
}

/// Refuses a request as Ollama does in a case.
pub(super) fn refusal_in(case: ErrorCase, model: &str) -> Refusal {
    match case {
        ErrorCase::ContextTooLong => {
            refusal(400, "prompt too long; exceeded max context length by 4096 tokens")
        }
        ErrorCase::Quota => refusal(
            429,
            "you (scripted) have reached your weekly usage limit, upgrade for higher limits: \
             https://ollama.com/upgrade",
        ),
        ErrorCase::Auth => refusal(401, "unauthorized"),
        ErrorCase::UnknownModel => {
            refusal(404, &format!("model '{model}' not found, try pulling it first"))
        }
        ErrorCase::NoTools => {
            refusal(400, &format!("registry.ollama.ai/library/{model} does not support tools"))
        }
        ErrorCase::ContentRefused => {
            refusal(422, "the script wants a refusal for content, which Ollama does not have")
        }
        ErrorCase::Overloaded => {
            refusal(503, "server busy, please try again.  maximum pending requests exceeded")
        }
    }
}
