//! Reports calls of tools without a report for a person: those of MCP servers, and calls of
//! programs that did not write one. Whether they succeeded is not said.

use lango_model::AnsweredCall;
use lango_protocol::{CallReport, CallStatus};
use lango_text::{code_span, render_json_markdown};
use serde_json::Value;

/// Reports what a result says, as it is or as lines and tables.
pub(super) fn report_result(call: &AnsweredCall) -> CallReport {
    let result = call.result.trim();
    let tool = code_span(call.valid_name());
    let says = || CallReport::new(format!("{tool} says:"));
    match serde_json::from_str::<Value>(result) {
        _ if result.is_empty() => CallReport::new(format!("{tool} gave no answer in words.")),
        Ok(Value::Null) => CallReport::new(format!("{tool} gave nothing back.")),
        Ok(Value::Number(number)) => CallReport::new(format!("{tool} says: {number}")),
        Ok(Value::String(text)) if text.trim().is_empty() => {
            CallReport::new(format!("{tool} gave no answer in words."))
        }
        Ok(Value::String(text)) => says().quoted(text),
        Ok(value) => match render_json_markdown(&value) {
            Some(lines) if !lines.is_empty() => says().markdown(lines),
            _ => says().quoted(result),
        },
        Err(_) => says().quoted(result),
    }
}

/// Reports a call that failed, in the text that the model read.
pub(super) fn report_failure(call: &AnsweredCall, status: CallStatus) -> CallReport {
    let tool = code_span(call.valid_name());
    let report = match status {
        CallStatus::Ok | CallStatus::Error => CallReport::new(format!("{tool} failed.")),
        CallStatus::Refused | CallStatus::Denied => CallReport::new(format!("{tool} was not run.")),
        CallStatus::Cancelled => CallReport::new(format!("{tool} was stopped.")),
        CallStatus::Unknown => CallReport::new(format!("The outcome of {tool} is unknown.")),
    };
    match call.result.trim() {
        "" => report,
        result => report.quoted(result),
    }
}
