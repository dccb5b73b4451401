//! Limits what turns that begin by themselves may spend, beside the limits of each turn.

use std::future::Future;
use std::pin::Pin;

use lango_protocol::{SessionId, Usage};
use lango_store::StoreError;

/// Resolves to what a guard decided or wrote.
pub type SpendFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StoreError>> + Send + 'a>>;

/// A call of a model that is to be made, or was made.
#[derive(Debug, Clone, Copy)]
pub struct SpendRequest<'a> {
    /// The session of the turn.
    pub session: &'a SessionId,
    /// The calls that must be left afterwards, for the agent that answers.
    pub reserved_calls: u32,
}

/// What a call of a model took.
#[derive(Debug, Clone, Copy)]
pub struct SpentCall<'a> {
    /// The session of the turn.
    pub session: &'a SessionId,
    /// The provider.
    pub provider: &'a str,
    /// The model.
    pub model: &'a str,
    /// The tokens.
    pub usage: &'a Usage,
}

/// Says whether a call of a model may be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SpendDecision {
    /// It may, and is counted.
    Granted,
    /// It may, is counted, and is the last one; with an account of what was spent.
    Last(String),
    /// It may not; with an account of what was spent.
    Refused(String),
}

/// Decides about the model calls of turns that begin by themselves. Implemented by the automator.
pub trait SpendGuard: Send + Sync {
    /// Decides about a call before it is made, and counts it.
    fn admit<'a>(&'a self, request: SpendRequest<'a>) -> SpendFuture<'a, SpendDecision>;

    /// Counts what a call took.
    fn note<'a>(&'a self, call: SpentCall<'a>) -> SpendFuture<'a, ()>;
}
