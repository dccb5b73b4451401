//! How the program ends: what went wrong, in words, and the exit code that says it to scripts.

use std::process::ExitCode;

use lango_protocol::{FailureClass, Outcome, OutcomeStatus};
use lango_runtime::TurnError;
use lango_store::StoreError;

use crate::config::ConfigError;

/// Answered.
pub(crate) const ANSWERED: u8 = 0;
/// The turn failed.
pub(crate) const TURN_FAILED: u8 = 1;
/// Wrong usage or configuration.
pub(crate) const WRONG_USAGE: u8 = 2;
/// An approval was needed and not given.
pub(crate) const NOT_APPROVED: u8 = 3;
/// The model's provider failed.
pub(crate) const PROVIDER_FAILED: u8 = 4;
/// A budget ended the turn.
pub(crate) const BUDGET_SPENT: u8 = 5;
/// Stopped by Ctrl-C.
pub(crate) const INTERRUPTED: u8 = 130;
/// Stopped by a termination signal.
pub(crate) const TERMINATED: u8 = 143;

/// An error of a command, with its exit code.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) code: u8,
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { code: WRONG_USAGE, message: message.into() }
    }

    pub(crate) fn provider(message: impl Into<String>) -> Self {
        Self { code: PROVIDER_FAILED, message: message.into() }
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code)
    }
}

impl From<ConfigError> for Failure {
    fn from(error: ConfigError) -> Self {
        Self::usage(error.to_string())
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        let code = match error {
            StoreError::Location { .. }
            | StoreError::Open { .. }
            | StoreError::ReadOnly { .. }
            | StoreError::NewerSchema { .. } => WRONG_USAGE,
            _ => TURN_FAILED,
        };
        Self { code, message: error.to_string() }
    }
}

impl From<TurnError> for Failure {
    fn from(error: TurnError) -> Self {
        match error {
            TurnError::Store(error) => error.into(),
            error => Self { code: TURN_FAILED, message: error.to_string() },
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        Self { code: TURN_FAILED, message: error.to_string() }
    }
}

/// The exit code of a turn that ended.
pub(crate) fn code_of(outcome: &Outcome) -> u8 {
    match &outcome.status {
        OutcomeStatus::Cancelled => INTERRUPTED,
        OutcomeStatus::TimedOut | OutcomeStatus::Failed { class: FailureClass::Budget(_), .. } => {
            BUDGET_SPENT
        }
        OutcomeStatus::Failed { class: FailureClass::Provider, .. } => PROVIDER_FAILED,
        OutcomeStatus::Failed { .. } | OutcomeStatus::Rejected { .. } => TURN_FAILED,
        OutcomeStatus::Done if outcome.work.calls_denied > 0 => NOT_APPROVED,
        OutcomeStatus::Done | OutcomeStatus::NeedsInput => ANSWERED,
    }
}

#[cfg(test)]
mod tests {
    use lango_protocol::{BudgetKind, WorkDone};

    use super::*;

    #[test]
    fn every_end_of_a_turn_has_its_documented_code() {
        let code = |status, denied| {
            let work = WorkDone { calls_denied: denied, ..WorkDone::default() };
            code_of(&Outcome { status, work })
        };
        let failed = |class| OutcomeStatus::Failed { class, reason: String::new() };
        assert_eq!(code(OutcomeStatus::Done, 0), 0);
        assert_eq!(code(OutcomeStatus::Done, 1), 3);
        assert_eq!(code(OutcomeStatus::Rejected { reason: String::new() }, 0), 1);
        assert_eq!(code(failed(FailureClass::Model), 0), 1);
        assert_eq!(code(failed(FailureClass::Provider), 0), 4);
        assert_eq!(code(failed(FailureClass::Budget(BudgetKind::Tokens)), 0), 5);
        assert_eq!(code(OutcomeStatus::TimedOut, 0), 5);
        assert_eq!(code(OutcomeStatus::Cancelled, 0), 130);
    }
}
