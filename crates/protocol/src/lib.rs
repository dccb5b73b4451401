//! The vocabulary every other crate speaks: ids, events, outcomes and budgets.
//!
//! Pure data: no I/O, no clocks beyond [`Timestamp::now`], no behaviour that belongs to a turn.
//! What a type here means is what `docs/events.md` tells the users of `stream-json`.

mod budget;
mod event;
mod ids;
pub mod marker;
mod outcome;
mod report;
mod time;
mod transfer;

pub use budget::{BudgetKind, BudgetLimits, Spent};
pub use event::{
    ApprovalDecision, CallStatus, DelegationStatus, DirectCall, Event, EventBody, ImageReference,
    Origin, Sender, Usage, WarningCode,
};
pub use ids::{AgentName, CallId, Caller, EventId, InvalidName, SessionId, TurnId};
pub use outcome::{FailureClass, Outcome, OutcomeStatus, WorkDone};
pub use report::{CallReport, Details, MAX_DETAILS_BYTES, MAX_SUMMARY_BYTES};
pub use time::Timestamp;
pub use transfer::{TRANSFER_TOOL, TransferArguments};

/// The author of everything a person says.
pub const USER: &str = "user";
/// The author of what the runtime itself decides: warnings, refusals, the end of a turn.
pub const RUNTIME: &str = "lango";
/// The root agent of a team.
pub const ORCHESTRATOR: &str = "lango-orchestrator";
/// The root agent when `agent.multiAgent` is off.
pub const SINGLE_AGENT: &str = "lango-agent";
/// The specialist that splits a request into steps and has no tools.
pub const PLANNER: &str = "planner";
