//! Defines the vocabulary of all other crates: ids, events, outcomes and budgets.
//!
//! It is pure data: no I/O, no clocks beyond [`Timestamp::now`], no behaviour that belongs to a
//! turn. `docs/events.md` explains these types to the users of `stream-json`.

mod budget;
mod event;
mod ids;
mod instruction;
pub mod marker;
mod outcome;
mod report;
mod reported_files;
mod right;
mod space;
mod time;
mod transfer;

pub use budget::{BudgetKind, BudgetLimits, BudgetUsage};
pub use event::{
    ApprovalDecision, CallStatus, DelegationStatus, DirectCall, Event, EventBody, ImageReference,
    MessageOrigin, Sender, Usage, WarningCode,
};
pub use ids::{AgentName, CallId, Caller, EventId, InvalidName, SessionId, TurnId};
pub use instruction::{ForeignText, Instruction, InstructionText};
pub use outcome::{FailureClass, LastCall, Outcome, OutcomeStatus, WorkDone};
pub use report::{CallReport, MAX_DETAILS_BYTES, MAX_SUMMARY_BYTES, ReportDetails};
pub use reported_files::ReportedFiles;
pub use right::{InvalidRight, Right, Rights};
pub use space::{OWNER, OwnerStore, Space, SpaceAccess};
pub use time::Timestamp;
pub use transfer::{TRANSFER_TOOL, TransferArguments};

/// The author of everything the user says.
pub const USER: &str = "user";
/// The author of what the runtime itself decides: warnings, refusals, the end of a turn.
pub const RUNTIME: &str = "lango";
/// Names the root agent of a team.
pub const ORCHESTRATOR: &str = "lango-orchestrator";
/// Names the root agent when `agent.multiAgent` is off.
pub const SINGLE_AGENT: &str = "lango-agent";
/// Names the specialist that splits a request into steps and has no tools.
pub const PLANNER: &str = "planner";
