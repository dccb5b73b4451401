//! Defines errors in the format of the OpenAI API.

use axum::Json;
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use lango_protocol::{FailureClass, Outcome, OutcomeStatus};
use lango_runtime::TurnError;
use lango_store::StoreError;
use serde::Serialize;

/// Represents an error as `{"error": {message, type, param, code}}`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ApiError {
    pub(super) status: StatusCode,
    pub(super) message: String,
    pub(super) kind: &'static str,
    pub(super) param: Option<String>,
    pub(super) code: Option<&'static str>,
    /// True if a client may repeat the request automatically. Official clients do, unless told
    /// otherwise, and a failed turn may have had effects.
    pub(super) may_repeat: bool,
}

/// The JSON form of the error.
#[derive(Serialize)]
pub(super) struct ErrorBody<'a> {
    error: ErrorFields<'a>,
}

#[derive(Serialize)]
struct ErrorFields<'a> {
    message: &'a str,
    r#type: &'static str,
    param: Option<&'a str>,
    code: Option<&'static str>,
}

impl ApiError {
    fn new(status: StatusCode, kind: &'static str, message: impl Into<String>) -> Self {
        let message = message.into();
        Self { status, message, kind, param: None, code: None, may_repeat: false }
    }

    /// Reports an invalid parameter.
    pub(super) fn invalid(param: impl Into<String>, message: impl Into<String>) -> Self {
        let error = Self::new(StatusCode::BAD_REQUEST, "invalid_request_error", message);
        Self { param: Some(param.into()), ..error }
    }

    /// Adds an error code.
    pub(super) fn with_code(self, code: &'static str) -> Self {
        Self { code: Some(code), ..self }
    }

    /// Reports something that does not exist or belongs to another caller. Both look the same to a
    /// caller.
    pub(super) fn not_found(
        param: &'static str,
        code: &'static str,
        message: impl Into<String>,
    ) -> Self {
        let error = Self::new(StatusCode::NOT_FOUND, "invalid_request_error", message);
        Self { param: Some(param.to_owned()), code: Some(code), ..error }
    }

    /// Reports that the caller has too many running turns.
    pub(super) fn too_many() -> Self {
        let words = "too many requests of this caller are under way. Wait until one has ended";
        let error = Self::new(StatusCode::TOO_MANY_REQUESTS, "rate_limit_error", words);
        Self { code: Some("rate_limit_exceeded"), may_repeat: true, ..error }
    }

    /// Reports that the caller may not use any agent.
    pub(super) fn no_team() -> Self {
        let words = "this caller reaches no agent. The owner of the server can change that: lango \
                     serve callers list";
        Self::new(StatusCode::FORBIDDEN, "invalid_request_error", words).with_code("no_agents")
    }

    /// Reports that the server is shutting down.
    pub(super) fn closing() -> Self {
        let words = "the server is shutting down. What was done is recorded; the owner can \
                     continue it: lango resume";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, "server_error", words).with_code("shutting_down")
    }

    /// Reports a key that was used with another request.
    pub(super) fn key_reused() -> Self {
        let words = "this Idempotency-Key was used with another request. Choose a new one";
        let error = Self::new(StatusCode::UNPROCESSABLE_ENTITY, "invalid_request_error", words);
        error.with_code("idempotency_key_reused")
    }

    /// Reports a turn that ended without an answer. `words` is the team's message about it.
    pub(super) fn from_outcome(outcome: &Outcome, words: &str) -> Self {
        let (status, kind, code) = match &outcome.status {
            OutcomeStatus::Rejected { .. } => {
                (StatusCode::UNPROCESSABLE_ENTITY, "invalid_request_error", "rejected")
            }
            OutcomeStatus::TimedOut => (StatusCode::GATEWAY_TIMEOUT, "server_error", "timed_out"),
            OutcomeStatus::Cancelled => {
                (StatusCode::SERVICE_UNAVAILABLE, "server_error", "cancelled")
            }
            OutcomeStatus::Failed { class: FailureClass::Provider, .. } => {
                (StatusCode::BAD_GATEWAY, "server_error", "provider_failed")
            }
            OutcomeStatus::Failed { class: FailureClass::Budget(_), .. } => {
                (StatusCode::INTERNAL_SERVER_ERROR, "server_error", "budget_spent")
            }
            _ => (StatusCode::INTERNAL_SERVER_ERROR, "server_error", "turn_failed"),
        };
        Self::new(status, kind, words).with_code(code)
    }

    pub(super) fn body(&self) -> ErrorBody<'_> {
        ErrorBody {
            error: ErrorFields {
                message: &self.message,
                r#type: self.kind,
                param: self.param.as_deref(),
                code: self.code,
            },
        }
    }
}

impl From<StoreError> for ApiError {
    /// Hides the details of a database error, which only the owner may see.
    fn from(_: StoreError) -> Self {
        let words = "the server cannot use its database at the moment";
        let error = Self::new(StatusCode::SERVICE_UNAVAILABLE, "server_error", words);
        Self { code: Some("database_unavailable"), may_repeat: true, ..error }
    }
}

impl From<TurnError> for ApiError {
    fn from(error: TurnError) -> Self {
        match error {
            TurnError::Store(error) => error.into(),
            TurnError::SessionBusy { .. } => {
                let words = "another process is using this session. Try again later";
                let error = Self::new(StatusCode::CONFLICT, "invalid_request_error", words);
                Self { code: Some("session_busy"), may_repeat: true, ..error }
            }
            TurnError::NothingToResume(_) | TurnError::Broken(_) => {
                let words = "the turn ended unexpectedly. This is a bug; please report it";
                Self::new(StatusCode::INTERNAL_SERVER_ERROR, "server_error", words)
            }
        }
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(self.body())).into_response();
        if !self.may_repeat {
            response.headers_mut().insert("x-should-retry", HeaderValue::from_static("false"));
        }
        response
    }
}
