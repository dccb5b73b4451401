//! Renders the result of a call for the user.
//!
//! Tools report themselves what they did, and the runtime reports what was not done; here a report
//! becomes an answer within its limits. A tool without a report is quoted, without a claim.

mod answer;
mod general;
#[cfg(test)]
mod tests;
mod transfer;

use lango_protocol::CallStatus;

use lango_model::{AnsweredCall, CallOutcome};

pub(crate) use self::transfer::find_question;

/// Says what came out of a call: never empty, and at most about 6 kB.
pub(crate) fn render_result(call: &AnsweredCall) -> String {
    match &call.outcome {
        CallOutcome::Transfer { status, text, .. } => {
            answer::render_report(&transfer::report_transfer(call, *status, text))
        }
        CallOutcome::Tool { report: Some(report), .. } => answer::render_report(report),
        CallOutcome::Tool { status: CallStatus::Ok, report: None } => {
            answer::render_report(&general::report_result(call))
        }
        CallOutcome::Tool { status, report: None } => {
            answer::render_report(&general::report_failure(call, *status))
        }
    }
}
