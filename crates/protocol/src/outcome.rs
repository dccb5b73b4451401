//! Describes how a turn ended, and what was really done in it.

use serde::{Deserialize, Serialize};

use crate::{AgentName, BudgetKind, BudgetUsage};

/// Names the ways a turn can end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
pub enum OutcomeStatus {
    /// It was answered.
    Done,
    /// It was answered with a question: an agent cannot continue without the user.
    NeedsInput,
    /// No agent accepted the task.
    Rejected {
        /// The reasons the agents gave.
        reason: String,
    },
    /// It could not be finished.
    Failed {
        /// The class of the failure, which says who can act on it.
        class: FailureClass,
        /// The reason, for the user.
        reason: String,
    },
    /// The time limit of the turn was reached.
    TimedOut,
    /// The user stopped it.
    Cancelled,
}

/// Says why a turn failed. Each class has its own exit code in the command line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "detail", rename_all = "snake_case")]
pub enum FailureClass {
    /// The model's provider failed: unreachable, refused the key, out of quota, or a broken stream.
    Provider,
    /// The model kept sending replies that cannot be used.
    Model,
    /// A limit of the turn's budget was reached.
    Budget(BudgetKind),
    /// Our own store could not be written.
    Store,
}

/// Says how the last tool call of a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LastCall {
    /// It did what it was asked for.
    Succeeded,
    /// It ran and did not achieve what it was asked for, such as a command that ended with an error
    /// code.
    Unsuccessful,
    /// It reported an error, or its effect is not known.
    Failed,
}

/// Counts what was really done, whatever the model claims.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkDone {
    /// The cost.
    pub spent: BudgetUsage,
    /// Agents that worked on it, in order of appearance.
    pub agents: Vec<AgentName>,
    /// Tool calls that ran and succeeded.
    pub calls_succeeded: u32,
    /// Tool calls that ran and reported an error.
    pub calls_failed: u32,
    /// Tool calls that were refused: not owned, malformed, repeated or over a limit.
    pub calls_refused: u32,
    /// Tool calls that needed an approval and did not get it.
    pub calls_denied: u32,
    /// Tool calls that were started and whose effect is not known.
    pub calls_unknown: u32,
    /// The end of the last call that ran; none where no call ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_call: Option<LastCall>,
    /// Milliseconds of wall time.
    pub milliseconds: u64,
}

/// Describes the end of a turn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// The status at its end.
    #[serde(flatten)]
    pub status: OutcomeStatus,
    /// The work that was done.
    pub work: WorkDone,
}

impl OutcomeStatus {
    /// Returns the name of the status, as in `stream-json`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::NeedsInput => "needs_input",
            Self::Rejected { .. } => "rejected",
            Self::Failed { .. } => "failed",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
        }
    }
}

impl Outcome {
    /// Tells whether the user got an answer, be it a question.
    pub fn is_done(&self) -> bool {
        matches!(self.status, OutcomeStatus::Done | OutcomeStatus::NeedsInput)
    }
}
