//! What is said about calls.

mod others;
mod properties;

use std::sync::Arc;

use lango_protocol::{CallId, CallReport, CallStatus, DelegationStatus};

use super::tell;
use lango_model::{AnsweredCall, CallOutcome, CallTally};

fn call(name: &str, arguments: &str, result: &str, outcome: CallOutcome) -> AnsweredCall {
    AnsweredCall {
        id: CallId::generate(),
        name: name.into(),
        arguments: arguments.into(),
        result: result.into(),
        outcome,
    }
}

/// What is said about a call without a report.
fn told(name: &str, result: &str, status: CallStatus) -> String {
    tell(&call(name, "{}", result, CallOutcome::tool(status)))
}

/// What is said about a call with a report.
fn reported(report: CallReport) -> String {
    let outcome = CallOutcome::Tool { status: CallStatus::Ok, report: Some(Arc::new(report)) };
    tell(&call("fs_read", "{}", "for the model", outcome))
}

/// What is said about a transfer to the operator.
fn came_back(status: DelegationStatus, text: &str) -> String {
    let arguments = r#"{"agent_name":"operator","task":"go"}"#;
    let calls = CallTally::default();
    let outcome = CallOutcome::Transfer { status, text: text.into(), calls };
    tell(&call("transfer_to_agent", arguments, "for the model", outcome))
}
