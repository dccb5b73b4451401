//! Defines the limits of the runtime.

use std::sync::Arc;
use std::time::Duration;

use lango_protocol::BudgetLimits;
use lango_redaction::PrivacyFilter;

use crate::ApprovalPolicy;

/// Holds the settings of turns.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Replaces personal data in requests to models that are not on this machine.
    pub privacy: Option<Arc<PrivacyFilter>>,
    /// The budget of one turn.
    pub limits: BudgetLimits,
    /// The policy for calls that need a person's approval.
    pub approval_policy: ApprovalPolicy,
    /// The time after which an unanswered question expires.
    pub approval_expiry: Duration,
    /// The number of earlier turns shown to a model.
    pub history_turns: u32,
    /// The estimated tokens of earlier turns shown to a model; the oldest turns are left out first.
    pub history_tokens: u64,
    /// The bytes of a tool's output shown to a model; the full output is stored under a reference.
    pub output_bytes: usize,
    /// The bytes of a model's text that are stored.
    pub reply_bytes: usize,
    /// The calls of one reply that are run; the others are refused.
    pub calls_per_reply: usize,
    /// The read-only calls that run at the same time.
    pub parallel_calls: usize,
    /// The time to wait for a session that another process uses.
    pub claim_wait: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            privacy: None,
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
