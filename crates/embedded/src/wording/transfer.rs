//! Reports the reply of another agent.

use lango_protocol::{CallReport, DelegationStatus, TransferArguments};
use lango_text::to_one_line;

use lango_model::{AnsweredCall, CallOutcome};

/// Limits a reason within a sentence, in characters.
const MAX_REASON_CHARACTERS: usize = 600;

/// Returns the question of an agent that cannot go on.
pub(crate) fn find_question(call: &AnsweredCall) -> Option<&str> {
    match &call.outcome {
        CallOutcome::Transfer { status: DelegationStatus::NeedsInput, text, .. } => Some(text),
        _ => None,
    }
}

/// Reports what came back from a transfer. An answer is for the user already and is passed on as it
/// is.
pub(super) fn report_transfer(
    call: &AnsweredCall,
    status: DelegationStatus,
    text: &str,
) -> CallReport {
    let arguments = TransferArguments::from_json(&call.arguments).unwrap_or_default();
    let agent = to_one_line(&arguments.agent_name, 64);
    let because = |how: &str| {
        CallReport::new(format!("The {agent} {how}: {}", to_one_line(text, MAX_REASON_CHARACTERS)))
    };
    match status {
        DelegationStatus::Answered if text.trim().is_empty() => {
            CallReport::new(format!("The {agent} said nothing."))
        }
        DelegationStatus::Answered => CallReport::default().markdown(text),
        DelegationStatus::NeedsInput => {
            CallReport::new(format!("The {agent} asks:")).markdown(text)
        }
        DelegationStatus::Rejected => because("did not take this"),
        DelegationStatus::Failed => because("could not finish"),
        DelegationStatus::Cancelled => because("was stopped"),
    }
}
