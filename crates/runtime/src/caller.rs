//! Whom a caller talks to.

use std::sync::Arc;

use lango_protocol::Caller;

use crate::Runtime;

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
