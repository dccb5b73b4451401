//! Whom a caller talks to.

use std::sync::Arc;

use lango_protocol::{Caller, EventBody, SessionId};
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
