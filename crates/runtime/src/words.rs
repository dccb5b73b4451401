//! Defines the texts of the runtime itself, for turns in which no agent answers.

use lango_model::Shortening;
use lango_protocol::{BudgetKind, FailureClass, Outcome, OutcomeStatus, Sender, WorkDone};

/// Writes the message that ends a turn without an agent's answer.
pub(crate) fn describe_outcome(outcome: &Outcome) -> String {
    let mut text = match &outcome.status {
        OutcomeStatus::Done => "Done.".to_owned(),
        OutcomeStatus::NeedsInput => "I need an answer from you.".to_owned(),
        OutcomeStatus::Rejected { reason } => {
            format!("No agent could take this task. {}.", reason.trim_end_matches('.'))
        }
        OutcomeStatus::Failed { class: FailureClass::Budget(BudgetKind::Work), reason } => {
            format!("I stopped because {}.", reason.trim_end_matches('.'))
        }
        OutcomeStatus::Failed { class: FailureClass::Budget(kind), .. } => {
            format!("I stopped because {kind} was reached.")
        }
        OutcomeStatus::Failed { class: FailureClass::Provider, reason } => {
            format!("I could not finish: {reason}.")
        }
        OutcomeStatus::Failed { reason, .. } => format!("I could not finish: {reason}."),
        OutcomeStatus::TimedOut => {
            "I stopped because the time limit of one turn was reached.".to_owned()
        }
        OutcomeStatus::Cancelled => "Stopped.".to_owned(),
    };
    text.push(' ');
    text.push_str(&describe_work(&outcome.work));
    text
}

/// Tells agents that a message was not sent by the user.
pub(crate) fn describe_sender(sender: &Sender) -> String {
    let named = sender.message.as_deref().map(|id| format!(", message {id:?}")).unwrap_or_default();
    format!(
        "This message was sent by {} (a program or agent that the user let in{named}), not by the \
         user.",
        sender.caller
    )
}

fn describe_work(work: &WorkDone) -> String {
    let parts = [
        (work.calls_succeeded, "succeeded"),
        (work.calls_failed, "failed"),
        (work.calls_denied, "not approved"),
        (work.calls_refused, "refused or stopped"),
        (work.calls_unknown, "with unknown outcome"),
    ];
    let done: Vec<String> =
        parts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
    if done.is_empty() {
        return "No tool was run.".to_owned();
    }
    let mut text = format!("Tool calls so far: {}", done.join(", "));
    if !work.agents.is_empty() {
        let names: Vec<&str> = work.agents.iter().map(lango_protocol::AgentName::as_str).collect();
        text.push_str(&format!(". Agents involved: {}", names.join(", ")));
    }
    text.push('.');
    text
}

/// Describes how a conversation was shortened to fit its model.
pub(crate) fn describe_shortening(what: Shortening) -> String {
    let mut parts = Vec::new();
    if what.messages > 0 {
        parts.push(format!("the {} oldest messages are left out", what.messages));
    }
    if what.results > 0 {
        parts.push(format!("{} long results are shown by their beginning only", what.results));
    }
    if parts.is_empty() {
        return "the conversation is longer than this model takes".to_owned();
    }
    format!("the conversation is longer than this model takes: {}", parts.join(", and "))
}

/// The result of a call that was running when the process ended.
pub(crate) const OUTCOME_UNKNOWN: &str = "OUTCOME UNKNOWN: the process ended while this call was running. It may or may not have had \
     its effect, and it was not run again. Check the state of things before you repeat it, and \
     tell the user.";

/// The result of a call that had not started when the process ended.
pub(crate) const NOT_STARTED: &str = "The process ended before this call was started. It had no effect; call it again if it is \
     still needed.";

/// The result of a call that was stopped by the user.
pub(crate) const CANCELLED: &str = "Stopped by the user; it may have had a part of its effect.";

/// The note for an agent whose reply was empty.
pub(crate) const SAY_SOMETHING: &str =
    "Your last reply was empty. Answer now, in words, or make a call.";

/// The note for an agent that may only answer.
pub(crate) const ANSWER_NOW: &str = "This is the end of what this turn may do: no tools or transfers are left. Answer the user \
     now, in words, with what you have; say plainly what was not done.";
