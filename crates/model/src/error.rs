//! What can go wrong with a model, by who can do something about it.

use std::time::Duration;

/// A model call that did not work.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The server cannot be reached.
    #[error(
        "cannot reach the model at {endpoint}: {reason}. Check that the server runs and that \
         providers.<id>.baseUrl (or OPENAI_BASE_URL) is right; `lango doctor` tests it"
    )]
    Unreachable {
        /// Where it was looked for.
        endpoint: String,
        /// What the network said.
        reason: String,
    },
    /// The key is missing or wrong.
    #[error(
        "the model provider refused the key ({reason}). Set the provider's key variable \
         (OPENAI_API_KEY for OpenAI) and run `lango doctor`"
    )]
    Authentication {
        /// What the provider said.
        reason: String,
    },
    /// No money or quota left.
    #[error("the account has no quota left ({reason}). Add credit, or choose another --model")]
    Quota {
        /// What the provider said.
        reason: String,
    },
    /// Too many requests.
    #[error("the provider asks to slow down ({reason}). Try again in a moment")]
    RateLimited {
        /// What the provider said.
        reason: String,
        /// How long it asked to wait.
        retry_after: Option<Duration>,
    },
    /// The provider is in trouble.
    #[error("the provider is overloaded or failing ({reason}). Try again in a moment")]
    Overloaded {
        /// What the provider said.
        reason: String,
    },
    /// The request does not fit the model.
    #[error("the conversation is too long for this model ({reason}). Start a new one with --new")]
    ContextTooLong {
        /// What the provider said.
        reason: String,
    },
    /// The provider does not know the model, or refuses the request as such.
    #[error("the provider refused the request ({reason}). Check --model and providers.<id>")]
    BadRequest {
        /// What the provider said.
        reason: String,
    },
    /// Nothing came for too long.
    #[error("the model sent nothing for {seconds} s. Try again, or raise model.idleSeconds")]
    Silent {
        /// The limit.
        seconds: u64,
    },
    /// The stream ended before the model had finished.
    #[error("the model's reply broke off in the middle ({reason}). Try again with `lango resume`")]
    Cut {
        /// Where.
        reason: String,
    },
    /// The model ran into its output limit in the middle of a call.
    #[error("the model's output limit cut a tool call in two; nothing of it was run")]
    OutputLimit,
    /// What came is not the protocol.
    #[error("the provider's answer is not understood: {reason}")]
    Malformed {
        /// What was wrong.
        reason: String,
    },
}

impl ModelError {
    /// The case for an HTTP status that is not a success.
    pub(crate) fn from_status(status: u16, body: &str, retry_after: Option<Duration>) -> Self {
        let reason = reason_of(status, body);
        let lower = body.to_ascii_lowercase();
        match status {
            401 | 403 => Self::Authentication { reason },
            402 => Self::Quota { reason },
            429 if lower.contains("insufficient_quota") => Self::Quota { reason },
            429 => Self::RateLimited { reason, retry_after },
            400 | 413 if lower.contains("context_length") || lower.contains("context window") => {
                Self::ContextTooLong { reason }
            }
            500.. | 408 => Self::Overloaded { reason },
            _ => Self::BadRequest { reason },
        }
    }
}

/// The provider's own words, without its JSON around them, bounded.
fn reason_of(status: u16, body: &str) -> String {
    #[derive(serde::Deserialize)]
    struct Wrapper {
        error: Inner,
    }
    #[derive(serde::Deserialize)]
    #[serde(untagged)]
    enum Inner {
        Object { message: String },
        Text(String),
    }
    let words = match serde_json::from_str::<Wrapper>(body) {
        Ok(Wrapper { error: Inner::Object { message } | Inner::Text(message) }) => message,
        Err(_) => body.trim().to_owned(),
    };
    let words: String = words.chars().filter(|c| !c.is_control()).take(300).collect();
    if words.is_empty() { format!("HTTP {status}") } else { format!("HTTP {status}: {words}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statuses_become_the_case_that_tells_the_user_what_to_do() {
        let body = r#"{"error":{"message":"bad key","type":"invalid"}}"#;
        let error = ModelError::from_status(401, body, None);
        assert!(matches!(error, ModelError::Authentication { .. }));
        assert!(error.to_string().contains("HTTP 401: bad key"), "{error}");
        let quota = r#"{"error":{"message":"x","code":"insufficient_quota"}}"#;
        assert!(matches!(ModelError::from_status(429, quota, None), ModelError::Quota { .. }));
        assert!(matches!(ModelError::from_status(429, "", None), ModelError::RateLimited { .. }));
        assert!(matches!(ModelError::from_status(503, "", None), ModelError::Overloaded { .. }));
        assert!(matches!(ModelError::from_status(404, "", None), ModelError::BadRequest { .. }));
        let long = r#"{"error":{"message":"m","code":"context_length_exceeded"}}"#;
        assert!(matches!(
            ModelError::from_status(400, long, None),
            ModelError::ContextTooLong { .. }
        ));
    }
}
