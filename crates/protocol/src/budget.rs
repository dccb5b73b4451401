//! Limits what one turn of a user may cost, everything below it included.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Limits one turn. Sub-agents, parallel branches and a resume after a crash all draw on the same
/// budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetLimits {
    /// Requests to a model.
    pub model_calls: u32,
    /// Calls of tools, refused ones included.
    pub tool_calls: u32,
    /// Transfers from the orchestrator to a specialist.
    pub delegation_rounds: u32,
    /// Input and output tokens together.
    pub tokens: u64,
    /// Wall time in seconds.
    pub seconds: u64,
}

impl BudgetLimits {
    /// The number of rounds if the configuration says 0 or nothing.
    pub const DEFAULT_DELEGATION_ROUNDS: u32 = 5;

    /// Returns the wall time as a duration.
    pub fn wall_time(&self) -> Duration {
        Duration::from_secs(self.seconds)
    }
}

impl Default for BudgetLimits {
    fn default() -> Self {
        Self {
            model_calls: 40,
            tool_calls: 100,
            delegation_rounds: Self::DEFAULT_DELEGATION_ROUNDS,
            tokens: 500_000,
            seconds: 900,
        }
    }
}

/// Counts what a turn has spent so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BudgetUsage {
    /// Requests to a model.
    pub model_calls: u32,
    /// Calls of tools, refused ones included.
    pub tool_calls: u32,
    /// Transfers from the orchestrator to a specialist.
    pub delegation_rounds: u32,
    /// Input and output tokens together.
    pub tokens: u64,
}

/// Names the part of a budget that ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BudgetKind {
    /// Too many requests to a model.
    ModelCalls,
    /// Too many calls of tools.
    ToolCalls,
    /// Too many transfers.
    DelegationRounds,
    /// Too many tokens.
    Tokens,
    /// Too much time.
    WallTime,
    /// The same call again and again.
    Repetition,
    /// Too much for work that runs by itself.
    Work,
}

impl fmt::Display for BudgetKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::ModelCalls => "the limit of model calls for one turn",
            Self::ToolCalls => "the limit of tool calls for one turn",
            Self::DelegationRounds => "the limit of delegation rounds for one turn",
            Self::Tokens => "the token limit of one turn",
            Self::WallTime => "the time limit of one turn",
            Self::Repetition => "the limit of repeated identical calls",
            Self::Work => "the budget of work that runs by itself",
        })
    }
}
