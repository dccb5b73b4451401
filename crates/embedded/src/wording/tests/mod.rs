//! Tests the reports of calls.

mod others;
mod properties;

use std::sync::Arc;

use lango_protocol::{CallId, CallReport, CallStatus, DelegationStatus};

use super::render_result;
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

/// Renders a call without a report.
fn without_report(name: &str, result: &str, status: CallStatus) -> String {
    render_result(&call(name, "{}", result, CallOutcome::tool(status)))
}

/// Renders a call with a report.
fn with_report(report: CallReport) -> String {
    let outcome = CallOutcome::Tool { status: CallStatus::Ok, report: Some(Arc::new(report)) };
    render_result(&call("fs_read", "{}", "for the model", outcome))
}

/// Renders a transfer to the operator.
fn transferred(status: DelegationStatus, text: &str) -> String {
    let arguments = r#"{"agent_name":"operator","task":"go"}"#;
    let calls = CallTally::default();
    let outcome = CallOutcome::Transfer { status, text: text.into(), calls };
    render_result(&call("transfer_to_agent", arguments, "for the model", outcome))
}
