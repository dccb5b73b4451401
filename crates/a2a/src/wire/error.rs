//! Defines the errors of the protocol for all bindings.

use a2a::error_code;
use serde::Serialize;
use serde_json::{Value, json};

/// Describes an invalid field.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FieldViolation {
    /// The field, as spelled on the wire.
    pub field: String,
    /// The rule that it violates.
    pub description: String,
}

/// Describes why a request failed. The messages go to the caller and contain nothing about this
/// machine.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProtocolError {
    /// The caller has no such task.
    #[error("there is no task {0:?}. ListTasks returns the existing ones")]
    TaskNotFound(String),
    /// The task has already ended.
    #[error("the task {0:?} has ended and cannot be canceled")]
    TaskNotCancelable(String),
    /// This server sends no notifications.
    #[error("push notifications are not supported here; use SubscribeToTask or GetTask")]
    PushNotSupported,
    /// The operation is not available, or not in this state.
    #[error("{0}")]
    UnsupportedOperation(String),
    /// The content type is not accepted.
    #[error("{0}")]
    ContentTypeNotSupported(String),
    /// There is no extended card.
    #[error("there is no extended agent card here")]
    ExtendedCardNotConfigured,
    /// The version is not supported.
    #[error("version {0:?} is not supported. Send the header A2A-Version: 1.0")]
    VersionNotSupported(String),
    /// The body is not JSON.
    #[error("the body is not JSON: {0}")]
    Parse(String),
    /// The body is JSON, but not a request.
    #[error("{0}")]
    InvalidRequest(String),
    /// This version has no such method.
    #[error("there is no method {0:?} in this version of the protocol; see the header A2A-Version")]
    MethodNotFound(String),
    /// The parameters are invalid.
    #[error("{message}")]
    InvalidParams {
        /// The message as text.
        message: String,
        /// The violations by field.
        violations: Vec<FieldViolation>,
    },
    /// The caller is over a limit. A later retry may succeed.
    #[error("{0}")]
    TooMany(String),
    /// The body is over the size limit.
    #[error("the body is longer than {0} bytes")]
    TooLarge(usize),
    /// The caller has no access, or no longer.
    #[error("this caller has no access to any agent")]
    AccessDenied,
    /// An error on this side, for the operator of the server; the caller learns no more.
    #[error("something went wrong on this side; try again later")]
    Internal,
}

const ERROR_INFO: &str = "type.googleapis.com/google.rpc.ErrorInfo";
const BAD_REQUEST: &str = "type.googleapis.com/google.rpc.BadRequest";
const DOMAIN: &str = "a2a-protocol.org";

/// One row of the error table: JSON-RPC code, HTTP status, status name, reason.
type ErrorTableRow = (i32, u16, &'static str, &'static str);

impl ProtocolError {
    /// Returns the error for one invalid field.
    pub fn invalid_field(field: &str, description: impl Into<String>) -> Self {
        let description = description.into();
        let message = format!("{field}: {description}");
        let violations = vec![FieldViolation { field: field.to_owned(), description }];
        Self::InvalidParams { message, violations }
    }

    fn table_row(&self) -> ErrorTableRow {
        use error_code as code;
        const UNMET: &str = "FAILED_PRECONDITION";
        const ARGUMENT: &str = "INVALID_ARGUMENT";
        match self {
            Self::TaskNotFound(_) => (code::TASK_NOT_FOUND, 404, "NOT_FOUND", "TASK_NOT_FOUND"),
            Self::TaskNotCancelable(_) => {
                (code::TASK_NOT_CANCELABLE, 400, UNMET, "TASK_NOT_CANCELABLE")
            }
            Self::PushNotSupported => {
                let reason = "PUSH_NOTIFICATION_NOT_SUPPORTED";
                (code::PUSH_NOTIFICATION_NOT_SUPPORTED, 400, UNMET, reason)
            }
            Self::UnsupportedOperation(_) => {
                (code::UNSUPPORTED_OPERATION, 400, UNMET, "UNSUPPORTED_OPERATION")
            }
            Self::ContentTypeNotSupported(_) => {
                (code::CONTENT_TYPE_NOT_SUPPORTED, 400, ARGUMENT, "CONTENT_TYPE_NOT_SUPPORTED")
            }
            Self::ExtendedCardNotConfigured => {
                let reason = "EXTENDED_AGENT_CARD_NOT_CONFIGURED";
                (code::EXTENDED_CARD_NOT_CONFIGURED, 400, UNMET, reason)
            }
            Self::VersionNotSupported(_) => {
                (code::VERSION_NOT_SUPPORTED, 400, UNMET, "VERSION_NOT_SUPPORTED")
            }
            Self::Parse(_) => (code::PARSE_ERROR, 400, ARGUMENT, "PARSE_ERROR"),
            Self::InvalidRequest(_) => (code::INVALID_REQUEST, 400, ARGUMENT, "INVALID_REQUEST"),
            Self::MethodNotFound(_) => {
                (code::METHOD_NOT_FOUND, 404, "NOT_FOUND", "METHOD_NOT_FOUND")
            }
            Self::InvalidParams { .. } => (code::INVALID_PARAMS, 400, ARGUMENT, "INVALID_PARAMS"),
            Self::TooMany(_) => {
                (code::INTERNAL_ERROR, 429, "RESOURCE_EXHAUSTED", "RESOURCE_EXHAUSTED")
            }
            Self::TooLarge(_) => (code::INVALID_REQUEST, 413, ARGUMENT, "BODY_TOO_LARGE"),
            Self::AccessDenied => (code::INVALID_REQUEST, 403, "PERMISSION_DENIED", "NOT_LET_IN"),
            Self::Internal => (code::INTERNAL_ERROR, 500, "INTERNAL", "INTERNAL_ERROR"),
        }
    }

    /// Returns the code for JSON-RPC.
    pub fn code(&self) -> i32 {
        self.table_row().0
    }

    /// Returns the status for HTTP+JSON.
    pub fn http_status(&self) -> u16 {
        self.table_row().1
    }

    fn details(&self) -> Vec<Value> {
        let info = json!({ "@type": ERROR_INFO, "reason": self.table_row().3, "domain": DOMAIN });
        let mut details = vec![info];
        if let Self::InvalidParams { violations, .. } = self
            && !violations.is_empty()
        {
            details.push(json!({ "@type": BAD_REQUEST, "fieldViolations": violations }));
        }
        details
    }

    /// Returns the `error` member of a JSON-RPC answer.
    pub fn to_rpc(&self) -> Value {
        json!({ "code": self.code(), "message": self.to_string(), "data": self.details() })
    }

    /// Returns the body of an HTTP+JSON answer.
    pub fn to_http(&self) -> Value {
        let (_, status, words, _) = self.table_row();
        json!({ "error": {
            "code": status, "status": words, "message": self.to_string(), "details": self.details(),
        } })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_the_same_in_both_bindings() {
        let error = ProtocolError::invalid_field("pageSize", "must be between 1 and 100");
        let (rpc, http) = (error.to_rpc(), error.to_http());
        assert_eq!(rpc["code"], -32602);
        assert_eq!(http["error"]["code"], 400);
        assert_eq!(rpc["message"], http["error"]["message"]);
        assert_eq!(rpc["data"], http["error"]["details"]);
        assert_eq!(rpc["data"][0]["domain"], "a2a-protocol.org");
        assert_eq!(rpc["data"][1]["fieldViolations"][0]["field"], "pageSize");
    }

    #[test]
    fn the_codes_are_those_of_the_text() {
        let table = [
            (ProtocolError::TaskNotFound("x".into()), -32001, 404),
            (ProtocolError::TaskNotCancelable("x".into()), -32002, 400),
            (ProtocolError::PushNotSupported, -32003, 400),
            (ProtocolError::UnsupportedOperation("x".into()), -32004, 400),
            (ProtocolError::ContentTypeNotSupported("x".into()), -32005, 400),
            (ProtocolError::ExtendedCardNotConfigured, -32007, 400),
            (ProtocolError::VersionNotSupported("9".into()), -32009, 400),
            (ProtocolError::Parse("x".into()), -32700, 400),
            (ProtocolError::MethodNotFound("x".into()), -32601, 404),
        ];
        for (error, code, status) in table {
            assert_eq!((error.code(), error.http_status()), (code, status), "{error}");
        }
    }
}
