//! Maps API clients to their teams and their sessions.

use std::sync::Arc;

pub use lango_protocol::OWNER;
use lango_protocol::{Caller, EventBody, FailureClass, Outcome, OutcomeStatus, SessionId, Space};
use lango_store::{Journal, StoreError};

use crate::Runtime;

/// Tells whether a caller started the session. Sessions that the user started belong to the owner.
/// A session that does not exist belongs to no caller.
pub async fn owns_session(
    journal: &Journal,
    caller: &Caller,
    session: &SessionId,
) -> Result<bool, StoreError> {
    let space = find_session_space(journal, session).await?;
    Ok(space.is_some_and(|space| space == Space::of_caller(caller)))
}

/// Returns the space of the caller that started a session; none if the session does not exist.
pub async fn find_session_space(
    journal: &Journal,
    session: &SessionId,
) -> Result<Option<Space>, StoreError> {
    let first = journal.read_events(session, 0, 1).await?;
    Ok(first.first().map(|event| match &event.body {
        EventBody::UserMessage { sender, .. } => Space::of_sender(sender.as_ref()),
        _ => Space::Owner,
    }))
}

/// Returns the text about a turn without an answer for a caller that is not the owner. The full
/// description names providers, addresses and settings, which only the owner may see.
pub fn outcome_for_clients(outcome: &Outcome) -> &'static str {
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

/// Provides the agents that a caller may use: each caller has a runtime with exactly those agents.
/// Implemented by the application, used by every endpoint.
pub trait Teams: Send + Sync {
    /// Returns the runtime of a caller, or none if the caller is not (or no longer) authorized.
    fn team(&self, caller: &Caller) -> Option<Runtime>;
}

/// Gives every caller the same team.
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
