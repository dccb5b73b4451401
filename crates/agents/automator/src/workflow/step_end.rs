//! Reads from the journal how the work of a step ended.

use std::collections::BTreeSet;

use lango_protocol::{CallStatus, EventBody, Outcome, OutcomeStatus, SessionId, TurnId};
use lango_store::{Journal, StoreError};
use lango_text::{ellipsize, truncate};
use serde_json::Value;

/// Limits the bytes of an output.
pub(crate) const MAX_OUTPUT_BYTES: usize = 64 * 1024;
/// Limits the bytes of a reason.
const MAX_REASON_BYTES: usize = 2000;

/// How the work of a step ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum StepEnd {
    /// It was done.
    Done(Value),
    /// It failed.
    Failed(String),
    /// It was stopped before it had an effect, and can be done again.
    Interrupted,
    /// It was stopped from outside. `acted` is a tool whose call had ended before, and may have had an
    /// effect.
    Cancelled { acted: Option<String> },
    /// It took longer than a turn may.
    TimedOut { acted: Option<String> },
    /// It may have had an effect or not.
    Unknown(String),
}

/// The last call of a turn that consists of one.
struct CallEnd {
    tool: String,
    status: CallStatus,
    output: String,
    data: Option<Value>,
}

/// Reads the end of a turn.
pub(crate) async fn read_step_end(
    journal: &Journal,
    session: &SessionId,
    turn: TurnId,
) -> Result<StepEnd, StoreError> {
    let (mut answer, mut outcome, mut call, mut unknown_tool) = (String::new(), None, None, None);
    let (mut is_call, mut stopped_tool, mut acted) = (false, None, None);
    // The calls that could have an effect. One that only reads is not among them.
    let mut started = BTreeSet::new();
    for event in journal.read_turn_events(session, turn).await? {
        match event.body {
            EventBody::UserMessage { call, .. } => is_call = call.is_some(),
            EventBody::Message { text, answer: true } => answer = text,
            EventBody::ToolStarted { call } => drop(started.insert(call)),
            EventBody::ToolResult { call: id, tool, status, output, report, .. } => {
                match status {
                    CallStatus::Unknown => unknown_tool = Some(tool.clone()),
                    CallStatus::Cancelled if started.contains(&id) => {
                        stopped_tool = Some(tool.clone());
                    }
                    CallStatus::Ok | CallStatus::Error if started.contains(&id) => {
                        acted = Some(tool.clone());
                    }
                    _ => {}
                }
                let data = report.and_then(|report| report.data.clone());
                call = Some(CallEnd { tool, status, output, data });
            }
            EventBody::TurnFinished(finished) => outcome = Some(finished),
            _ => {}
        }
    }
    let Some(Outcome { status, work }) = outcome else {
        // It was withdrawn before it began.
        return Ok(StepEnd::Cancelled { acted: None });
    };
    if work.calls_unknown > 0 || unknown_tool.is_some() {
        let tool = unknown_tool.unwrap_or_else(|| "a tool".to_owned());
        let reason = format!(
            "the process ended while {tool} ran, and whether it had its effect is not known"
        );
        return Ok(StepEnd::Unknown(reason));
    }
    if let Some(tool) = stopped_tool {
        let reason =
            format!("it was stopped while {tool} ran, and whether it had its effect is not known");
        return Ok(StepEnd::Unknown(reason));
    }
    let is_done = |call: &CallEnd| call.status == CallStatus::Ok;
    let reason = match status {
        OutcomeStatus::Done if is_call => return Ok(read_call_end(call)),
        OutcomeStatus::Done => return Ok(StepEnd::Done(Value::String(bound(&answer)))),
        // The call had ended when it was stopped.
        OutcomeStatus::Cancelled if is_call && call.as_ref().is_some_and(is_done) => {
            return Ok(read_call_end(call));
        }
        OutcomeStatus::Cancelled => return Ok(StepEnd::Cancelled { acted }),
        OutcomeStatus::TimedOut => return Ok(StepEnd::TimedOut { acted }),
        OutcomeStatus::NeedsInput => format!("it asks a question: {answer}"),
        OutcomeStatus::Failed { reason, .. } | OutcomeStatus::Rejected { reason } => reason,
    };
    Ok(StepEnd::Failed(ellipsize(&reason, MAX_REASON_BYTES)))
}

fn read_call_end(call: Option<CallEnd>) -> StepEnd {
    let Some(CallEnd { tool, status, output, data }) = call else {
        return StepEnd::Failed("the tool was not called".to_owned());
    };
    match status {
        CallStatus::Ok => StepEnd::Done(read_output(&output, data)),
        // No process stopped the turn, so that one ended before the call was started.
        CallStatus::Cancelled => StepEnd::Interrupted,
        CallStatus::Unknown => StepEnd::Unknown(output),
        CallStatus::Denied => StepEnd::Failed(format!("{tool} was not approved: {output}")),
        CallStatus::Error | CallStatus::Refused => {
            StepEnd::Failed(ellipsize(&format!("{tool}: {output}"), MAX_REASON_BYTES))
        }
    }
}

/// Returns the typed output of a tool if there is one, with its text in `text` where that says more, else
/// its text.
fn read_output(output: &str, data: Option<Value>) -> Value {
    let is_json = output.len() <= MAX_OUTPUT_BYTES && output.starts_with(['{', '[']);
    let parsed = is_json.then(|| serde_json::from_str::<Value>(output).ok()).flatten();
    match data {
        Some(data @ (Value::Object(_) | Value::Array(_))) if parsed.as_ref() == Some(&data) => data,
        Some(Value::Object(mut data)) => {
            data.entry("text").or_insert_with(|| Value::String(bound(output)));
            Value::Object(data)
        }
        Some(data @ Value::Array(_)) => data,
        _ => parsed.unwrap_or_else(|| Value::String(bound(output))),
    }
}

fn bound(text: &str) -> String {
    truncate(text, MAX_OUTPUT_BYTES).to_owned()
}
