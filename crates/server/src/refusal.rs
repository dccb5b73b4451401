//! Refuses requests before they reach an endpoint, in the error format of that endpoint.

use std::time::Duration;

use axum::Json;
use axum::http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use crate::EndpointKind;

/// Describes why a request was refused. The message is for the person who runs the client: it says
/// what is wrong and what to do, and reveals nothing about other callers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestRefusal {
    pub(crate) status: StatusCode,
    pub(crate) code: &'static str,
    pub(crate) message: String,
    pub(crate) retry_after: Option<Duration>,
}

impl RequestRefusal {
    pub(crate) fn new(status: StatusCode, code: &'static str, message: impl Into<String>) -> Self {
        Self { status, code, message: message.into(), retry_after: None }
    }

    pub(crate) fn unauthenticated(why: &str) -> Self {
        let message = format!(
            "{why}. Send the header `Authorization: Bearer TOKEN`; for a new token: lango serve \
             --new-token, or lango serve callers add NAME"
        );
        Self::new(StatusCode::UNAUTHORIZED, "invalid_api_key", message)
    }

    /// Returns the response in the error format of the endpoint.
    pub(crate) fn respond(&self, path: &str) -> Response {
        let body = match EndpointKind::of_path(path) {
            Some(EndpointKind::OpenAi) => self.as_openai(),
            Some(EndpointKind::Mcp) => self.as_json_rpc(),
            Some(EndpointKind::A2a) if path.trim_end_matches('/') == "/a2a" => self.as_json_rpc(),
            Some(EndpointKind::A2a) => self.as_status(),
            None => json!({ "error": { "code": self.code, "message": self.message } }),
        };
        let mut response = (self.status, Json(body)).into_response();
        let headers = response.headers_mut();
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"lango\""));
        }
        if let Some(wait) = self.retry_after {
            headers.insert(RETRY_AFTER, HeaderValue::from(wait.as_secs() + 1));
        }
        response
    }

    fn as_openai(&self) -> Value {
        let kind = match self.status {
            StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
            status if status.is_server_error() => "server_error",
            _ => "invalid_request_error",
        };
        json!({ "error": {
            "message": self.message, "type": kind, "param": null, "code": self.code,
        } })
    }

    fn as_json_rpc(&self) -> Value {
        json!({ "jsonrpc": "2.0", "id": null, "error": {
            "code": -32600, "message": self.message, "data": { "reason": self.code },
        } })
    }

    fn as_status(&self) -> Value {
        let status = match self.status {
            StatusCode::UNAUTHORIZED => "UNAUTHENTICATED",
            StatusCode::FORBIDDEN => "PERMISSION_DENIED",
            StatusCode::NOT_FOUND => "NOT_FOUND",
            StatusCode::TOO_MANY_REQUESTS => "RESOURCE_EXHAUSTED",
            status if status.is_server_error() => "INTERNAL",
            _ => "INVALID_ARGUMENT",
        };
        json!({ "error": {
            "code": self.status.as_u16(), "status": status, "message": self.message,
            "details": [{
                "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                "reason": self.code.to_uppercase(), "domain": "a2a-protocol.org",
            }],
        } })
    }
}
