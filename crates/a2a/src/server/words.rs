//! Holds the texts that the server itself sends to callers. They contain nothing about this
//! machine, its models or its limits.

use lango_protocol::FailureClass;

pub(crate) const CANCELED: &str = "Canceled.";
pub(crate) const TIMED_OUT: &str = "The agent ran out of time before it could answer.";
pub(crate) const COULD_NOT_BEGIN: &str =
    "The agent could not begin with this task. Send the message again later.";

/// Says that a call waits for the approval of the owner.
pub(crate) fn describe_waiting(tool: &str) -> String {
    format!(
        "The owner of this agent has to approve the use of {tool} before this goes on. A message \
         does not do that: wait, ask the owner, or cancel the task."
    )
}

/// Says that no agent took the task.
pub(crate) fn describe_rejection(reason: &str) -> String {
    format!("No agent here takes this task: {}.", reason.trim_end_matches('.'))
}

/// Says that the turn failed. The full reason may name models, addresses and settings, so it is not
/// sent.
pub(crate) fn describe_failure(class: FailureClass) -> &'static str {
    match class {
        FailureClass::Provider => {
            "The agent could not finish: the model behind it cannot be reached. Try again later."
        }
        FailureClass::Model => "The agent could not finish: nothing came of it that can be used.",
        FailureClass::Budget(_) => "The agent stopped at a limit before it could finish.",
        FailureClass::Store => "The agent could not finish. Try again later.",
    }
}
