//! Whom a caller talks to.

use std::sync::Arc;

use lango_protocol::{Caller, EventBody, FailureClass, Outcome, OutcomeStatus, SessionId};
use lango_store::{Journal, StoreError};

use crate::Runtime;

/// The caller that the user is, whose conversations have no other sender.
pub const OWNER: &str = "owner";

/// Whether a conversation is a caller's: it began it. Those that the user began are the owner's. One
/// that is not there is nobody's.
pub async fn owns_session(
    journal: &Journal,
    caller: &Caller,
    session: &SessionId,
) -> Result<bool, StoreError> {
    let first = journal.events(session, 0, 1).await?;
    Ok(first.first().is_some_and(|event| match &event.body {
        EventBody::UserMessage { sender: Some(sender), .. } => sender.caller == *caller,
        _ => caller.as_str() == OWNER,
    }))
}

/// What a caller that is not the owner is told about a turn without an answer. The account of the
/// turn itself names providers, addresses and settings, which are the owner's business.
pub fn words_for_others(outcome: &Outcome) -> &'static str {
    match &outcome.status {
        OutcomeStatus::Done | OutcomeStatus::NeedsInput => "The team has answered.",
        OutcomeStatus::Rejected { .. } => "No agent here takes this task.",
        OutcomeStatus::TimedOut => "The team could not finish in the time that one turn has.",
        OutcomeStatus::Cancelled => "The turn was stopped.",
        OutcomeStatus::Failed { class: FailureClass::Provider, .. } => {
            "The team could not finish: its language model cannot be used at the moment. The owner of \
             this server knows more."
        }
        OutcomeStatus::Failed { class: FailureClass::Budget(_), .. } => {
            "The team could not finish within the limits of one turn."
        }
        OutcomeStatus::Failed { .. } => {
            "The team could not finish. The owner of this server knows more."
        }
    }
}

/// Knows which agents a caller reaches: each caller has a runtime with those agents and no others.
/// Implemented by the wiring, used by every door.
pub trait Teams: Send + Sync {
    /// The runtime of a caller; none where it was not let in, or is not any more.
    fn team(&self, caller: &Caller) -> Option<Runtime>;
}

/// The same team for everybody.
impl Teams for Runtime {
    fn team(&self, _: &Caller) -> Option<Runtime> {
        Some(self.clone())
    }
}

impl<T: Teams + ?Sized> Teams for Arc<T> {
    fn team(&self, caller: &Caller) -> Option<Runtime> {
        self.as_ref().team(caller)
    }
}
