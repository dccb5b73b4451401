//! Defines the errors of a model call and what the user can do about each.

mod classify;

use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

use crate::ModelId;
use classify::{classify_message, classify_status, extract_message};

/// Describes a model call that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelError {
    /// The kind of error.
    pub fault: ModelFault,
    /// The message of the provider or the network: bounded, one line, no secrets.
    pub reason: String,
    /// The wait that the provider asked for.
    pub retry_after: Option<Duration>,
    /// The model that failed, where it is known.
    source: Option<Box<FailedModel>>,
}

/// Identifies the model that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FailedModel {
    id: ModelId,
    endpoint: String,
    key_variable: Option<String>,
}

/// Classifies errors by who can act on them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ModelFault {
    /// The key is missing or wrong.
    Authentication,
    /// No money or quota left.
    Quota,
    /// Too many requests.
    RateLimited,
    /// The provider is overloaded or fails.
    Overloaded,
    /// The conversation does not fit the model.
    ContextTooLong,
    /// The provider will not talk about this.
    ContentRefused,
    /// The provider does not know the model.
    UnknownModel,
    /// The model cannot call tools.
    ToolsUnsupported,
    /// The provider refuses the request as such.
    BadRequest,
    /// The server cannot be reached.
    Unreachable,
    /// A safe connection cannot be made.
    Tls,
    /// Nothing came for too long.
    Silent,
    /// The reply took longer than a reply may.
    TooSlow,
    /// The stream ended before the model had finished.
    Cut,
    /// The model ran into its output limit in the middle of a call.
    OutputLimit,
    /// The reply does not follow the protocol.
    Malformed,
    /// The provider failed so often that it is not asked for a while.
    Resting,
}

impl ModelFault {
    /// Tells whether the same request may work with the same model a little later.
    pub fn is_transient(self) -> bool {
        matches!(
            self,
            Self::RateLimited
                | Self::Overloaded
                | Self::Unreachable
                | Self::Silent
                | Self::Cut
                | Self::Malformed
        )
    }

    /// Tells whether another model may do better. A refusal is an answer, and stays one.
    pub fn is_worth_another_model(self) -> bool {
        self != Self::ContentRefused
    }

    /// Tells whether the error counts against the health of the provider.
    pub fn is_provider_failure(self) -> bool {
        matches!(
            self,
            Self::Overloaded
                | Self::Unreachable
                | Self::Tls
                | Self::Silent
                | Self::TooSlow
                | Self::Cut
                | Self::Malformed
        )
    }

    /// Returns the name of the kind in events.
    pub fn name(self) -> &'static str {
        match self {
            Self::Authentication => "authentication",
            Self::Quota => "quota",
            Self::RateLimited => "rate_limited",
            Self::Overloaded => "overloaded",
            Self::ContextTooLong => "context_too_long",
            Self::ContentRefused => "content_refused",
            Self::UnknownModel => "unknown_model",
            Self::ToolsUnsupported => "tools_unsupported",
            Self::BadRequest => "bad_request",
            Self::Unreachable => "unreachable",
            Self::Tls => "tls",
            Self::Silent => "silent",
            Self::TooSlow => "too_slow",
            Self::Cut => "cut",
            Self::OutputLimit => "output_limit",
            Self::Malformed => "malformed",
            Self::Resting => "resting",
        }
    }

    pub(crate) fn describe(self) -> &'static str {
        match self {
            Self::Authentication => "refused the key",
            Self::Quota => "has no quota left for this account",
            Self::RateLimited => "asks to slow down",
            Self::Overloaded => "is overloaded or failing",
            Self::ContextTooLong => "cannot take a conversation of this length",
            Self::ContentRefused => "refused to answer this",
            Self::UnknownModel => "does not have this model",
            Self::ToolsUnsupported => "cannot call tools with this model",
            Self::BadRequest => "refused the request",
            Self::Unreachable => "cannot be reached",
            Self::Tls => "cannot be reached over a safe connection",
            Self::Silent => "sent nothing for too long",
            Self::TooSlow => "took too long",
            Self::Cut => "broke off in the middle of its reply",
            Self::OutputLimit => "reached its output limit inside a tool call, which was not run",
            Self::Malformed => "sent something that is not understood",
            Self::Resting => "failed too often and is not asked for a while",
        }
    }
}

impl ModelError {
    /// Makes an error that does not name its model yet.
    pub fn new(fault: ModelFault, reason: impl AsRef<str>) -> Self {
        let reason = reason.as_ref().chars().map(|c| if c.is_control() { ' ' } else { c });
        let reason = reason.take(400).collect::<String>();
        let reason = reason.trim().trim_end_matches('.').to_owned();
        Self { fault, reason, retry_after: None, source: None }
    }

    /// Sets the wait that the provider asked for.
    #[must_use]
    pub fn retry_after(mut self, wait: Option<Duration>) -> Self {
        self.retry_after = wait;
        self
    }

    /// Names the model that failed, unless the error already names one.
    #[must_use]
    pub(crate) fn with(mut self, id: &ModelId, endpoint: &str, key: Option<&str>) -> Self {
        self.source.get_or_insert_with(|| {
            Box::new(FailedModel {
                id: id.clone(),
                endpoint: endpoint.to_owned(),
                key_variable: key.map(str::to_owned),
            })
        });
        self
    }

    /// Removes secrets that the provider echoed.
    #[must_use]
    pub(crate) fn without_secrets(mut self, secrets: &[&str]) -> Self {
        for secret in secrets.iter().filter(|secret| secret.len() >= 6) {
            if self.reason.contains(secret) {
                self.reason = self.reason.replace(secret, "[secret]");
            }
        }
        self
    }

    /// Says what happened with the models that were asked before.
    #[must_use]
    pub(crate) fn after_failures(mut self, earlier: &[String]) -> Self {
        if !earlier.is_empty() {
            let words = format!("before it, {}", earlier.join(", and "));
            self.reason =
                if self.reason.is_empty() { words } else { format!("{} ({words})", self.reason) };
        }
        self
    }

    /// Returns the model that failed.
    pub fn model(&self) -> Option<&ModelId> {
        self.source.as_ref().map(|source| &source.id)
    }

    /// Makes an error of an HTTP status that is not a success.
    pub(crate) fn from_status(status: u16, body: &str, retry_after: Option<Duration>) -> Self {
        let words = extract_message(body);
        let reason = if words.is_empty() {
            format!("HTTP {status}")
        } else {
            format!("HTTP {status}: {words}")
        };
        Self::new(classify_status(status, &body.to_ascii_lowercase()), reason)
            .retry_after(retry_after)
    }

    /// Makes an error of an error document inside a stream: providers put the kind into the
    /// document.
    pub(crate) fn from_document(document: &str) -> Self {
        let words = extract_message(document);
        let lower = document.to_ascii_lowercase();
        let fault = match classify_message(&lower) {
            Some(fault) => fault,
            None if lower.contains("invalid_request") => ModelFault::BadRequest,
            None => ModelFault::Overloaded,
        };
        Self::new(fault, words)
    }

    /// Returns the advice for the user.
    fn advice(&self) -> Cow<'static, str> {
        let id = self.source.as_ref().map(|source| source.id.to_string());
        let test = id
            .as_ref()
            .map_or_else(|| "lango models test".to_owned(), |id| format!("lango models test {id}"));
        let provider = self.source.as_ref().map_or("<id>", |source| &source.id.provider);
        match self.fault {
            ModelFault::Authentication => {
                let source = self.source.as_ref();
                match source.and_then(|source| source.key_variable.as_deref()) {
                    Some(variable) => format!("Set {variable} to a valid key, then: {test}"),
                    None => format!(
                        "No key was sent. Name the variable that holds it: lango config set \
                         providers.{provider}.apiKeyEnv VARIABLE"
                    ),
                }
                .into()
            }
            ModelFault::Quota => "Add credit, or choose another model with --model".into(),
            ModelFault::RateLimited
            | ModelFault::Overloaded
            | ModelFault::Silent
            | ModelFault::TooSlow => "Ask again in a moment, or name a second model: \
                 lango config set model.fallbacks PROVIDER/NAME"
                .into(),
            ModelFault::ContextTooLong => {
                let model = self.source.as_ref().map_or("NAME", |source| &source.id.model);
                format!(
                    "Start a new conversation with --new, or set the model's real window: \
                     lango config set 'models.\"{model}\".contextWindow' TOKENS"
                )
                .into()
            }
            ModelFault::ContentRefused => "Say it in other words, or choose another --model".into(),
            ModelFault::UnknownModel => {
                format!("See which there are: lango models list {provider}").into()
            }
            ModelFault::ToolsUnsupported => {
                format!("Agents need tools; choose another model: lango models list {provider}")
                    .into()
            }
            ModelFault::BadRequest | ModelFault::Malformed => {
                format!("To see what works: {test}").into()
            }
            ModelFault::Unreachable => format!(
                "Check that the server runs and that providers.{provider}.baseUrl is right, then: \
                 {test}"
            )
            .into(),
            ModelFault::Tls => format!(
                "Check the clock, the proxy and the certificate of \
                 providers.{provider}.baseUrl, then: {test}"
            )
            .into(),
            ModelFault::Cut => "Nothing of it was run. Ask again in a moment".into(),
            ModelFault::OutputLimit => {
                "Raise model.maxOutputTokens, or ask for less at once".into()
            }
            ModelFault::Resting => "Try again in a moment, or choose another --model".into(),
        }
    }
}

impl std::error::Error for ModelError {}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Some(source) => write!(f, "{} ", source.id)?,
            None => f.write_str("the model ")?,
        }
        f.write_str(self.fault.describe())?;
        let network = matches!(self.fault, ModelFault::Unreachable | ModelFault::Tls);
        match (&self.source, self.reason.as_str()) {
            (Some(source), reason) if network => write!(f, " at {}: {reason}", source.endpoint)?,
            (_, "") => {}
            (_, reason) => write!(f, ": {reason}")?,
        }
        if let Some(wait) = self.retry_after {
            write!(f, " (it asks to wait {} s)", wait.as_secs())?;
        }
        write!(f, ". {}", self.advice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(status: u16, body: &str) -> ModelFault {
        ModelError::from_status(status, body, None).fault
    }

    #[test]
    fn what_providers_answer_becomes_the_case_that_tells_the_user_what_to_do() {
        let cases = [
            (401, r#"{"error":{"message":"Incorrect API key"}}"#, ModelFault::Authentication),
            (400, r#"[{"error":{"message":"API key not valid."}}]"#, ModelFault::Authentication),
            (429, r#"{"error":{"code":"insufficient_quota","message":"x"}}"#, ModelFault::Quota),
            (400, r#"{"error":{"message":"Your credit balance is too low"}}"#, ModelFault::Quota),
            (402, "", ModelFault::Quota),
            (429, "", ModelFault::RateLimited),
            (500, "", ModelFault::Overloaded),
            (
                529,
                r#"{"type":"error","error":{"type":"overloaded_error"}}"#,
                ModelFault::Overloaded,
            ),
            (400, r#"{"error":{"code":"context_length_exceeded"}}"#, ModelFault::ContextTooLong),
            (
                400,
                r#"{"error":{"message":"prompt is too long: 2 > 1"}}"#,
                ModelFault::ContextTooLong,
            ),
            (404, r#"{"error":{"code":"model_not_found"}}"#, ModelFault::UnknownModel),
            (
                404,
                r#"{"error":"model 'x' not found, try pulling it first"}"#,
                ModelFault::UnknownModel,
            ),
            (400, r#"{"error":"x:1b does not support tools"}"#, ModelFault::ToolsUnsupported),
            (
                404,
                r#"{"error":{"message":"No endpoints found that support tool use."}}"#,
                ModelFault::ToolsUnsupported,
            ),
            (400, r#"{"error":{"code":"content_filter"}}"#, ModelFault::ContentRefused),
            (422, "", ModelFault::BadRequest),
        ];
        for (status, body, expected) in cases {
            assert_eq!(fault(status, body), expected, "{status} {body}");
        }
    }

    #[test]
    fn a_message_says_who_what_and_what_to_type() {
        let id = ModelId::new("work", "gpt-5-mini");
        let body = r#"{"error":{"message":"Incorrect\nAPI key"}}"#;
        let error = ModelError::from_status(401, body, None);
        let error = error.with(&id, "https://example.org/v1", Some("WORK_KEY"));
        assert_eq!(
            error.to_string(),
            "work/gpt-5-mini refused the key: HTTP 401: Incorrect API key. Set WORK_KEY to a valid \
             key, then: lango models test work/gpt-5-mini"
        );
        let error = ModelError::new(ModelFault::Unreachable, "connection refused");
        let shown = error.with(&id, "http://127.0.0.1:1/v1", None).to_string();
        assert!(shown.starts_with(
            "work/gpt-5-mini cannot be reached at http://127.0.0.1:1/v1: connection refused. "
        ));
    }

    #[test]
    fn an_error_in_a_stream_is_read_as_well() {
        let fault = |text| ModelError::from_document(text).fault;
        assert_eq!(
            fault(r#"{"type":"overloaded_error","message":"Overloaded"}"#),
            ModelFault::Overloaded
        );
        assert_eq!(fault(r#"{"message":"the server is tired"}"#), ModelFault::Overloaded);
        assert_eq!(fault(r#"{"type":"invalid_request_error"}"#), ModelFault::BadRequest);
        assert_eq!(fault(r#"{"code":"rate_limit_exceeded"}"#), ModelFault::RateLimited);
    }
}
