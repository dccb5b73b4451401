//! The limits of the runtime. Nothing it handles is without one.

use std::time::Duration;

use lango_protocol::BudgetLimits;

use crate::ApprovalPolicy;

/// How turns are run.
#[derive(Debug, Clone)]
pub struct Settings {
    /// What one turn may cost.
    pub limits: BudgetLimits,
    /// Which calls need a person's approval.
    pub approval_policy: ApprovalPolicy,
    /// How long a question waits for an answer.
    pub approval_expiry: Duration,
    /// Earlier turns shown to a model.
    pub history_turns: u32,
    /// Estimated tokens of earlier turns shown to a model; the oldest are left out first.
    pub history_tokens: u64,
    /// Bytes of a tool's output shown to a model; the rest is kept behind a reference.
    pub output_bytes: usize,
    /// Bytes of a model's text that are kept.
    pub reply_bytes: usize,
    /// Calls of one reply that are run; the others are refused.
    pub calls_per_reply: usize,
    /// Read-only calls that run at the same time.
    pub parallel_calls: usize,
    /// How long to wait for a session that another process is using.
    pub claim_wait: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            limits: BudgetLimits::default(),
            approval_policy: ApprovalPolicy::default(),
            approval_expiry: Duration::from_hours(1),
            history_turns: 30,
            history_tokens: 24_000,
            output_bytes: 16 * 1024,
            reply_bytes: 256 * 1024,
            calls_per_reply: 32,
            parallel_calls: 8,
            claim_wait: Duration::from_secs(30),
        }
    }
}
