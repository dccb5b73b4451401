//! The vocabulary every other crate speaks: ids, events, outcomes and budgets.
//!
//! Pure data: no I/O, no clocks beyond [`Timestamp::now`], no behaviour that belongs to a turn.
//! What a type here means is what `docs/events.md` tells the users of `stream-json`.

mod budget;
mod event;
mod ids;
mod outcome;
mod time;

pub use budget::{BudgetKind, BudgetLimits, Spent};
pub use event::{
    ApprovalDecision, CallStatus, DelegationStatus, Event, EventBody, ImageReference, Origin,
    Sender, Usage, WarningCode,
};
pub use ids::{AgentName, CallId, Caller, EventId, InvalidName, SessionId, TurnId};
pub use outcome::{FailureClass, Outcome, OutcomeStatus, WorkDone};
pub use time::Timestamp;

/// The author of everything a person says.
pub const USER: &str = "user";
/// The author of what the runtime itself decides: warnings, refusals, the end of a turn.
pub const RUNTIME: &str = "lango";
/// The root agent of a team.
pub const ORCHESTRATOR: &str = "lango-orchestrator";
/// The root agent when `agent.multiAgent` is off.
pub const SINGLE_AGENT: &str = "lango-agent";
