//! The end of the program: an error message for the user, and an exit status for scripts.

use std::process::ExitCode;

use lango_app::config::ConfigError;
use lango_app::{AppError, ErrorKind};
use lango_eval::EvalError;
use lango_protocol::{FailureClass, LastCall, Outcome, OutcomeStatus};

/// The exit status of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum ExitStatus {
    /// The command did what was asked.
    Success = 0,
    /// The turn, or the command, failed.
    Failure = 1,
    /// The usage or the configuration is wrong.
    WrongUsage = 2,
    /// An approval was needed and not given.
    NotApproved = 3,
    /// The model's provider failed.
    ProviderFailed = 4,
    /// A budget ended the turn.
    BudgetSpent = 5,
    /// The turn ended with a question to the user.
    NeedsInput = 6,
    /// The last call of a tool failed.
    ToolFailed = 7,
    /// The last call ran without success, such as a command that ended with an error code.
    Unsuccessful = 8,
    /// Ctrl-C stopped it.
    Interrupted = 130,
    /// A termination signal stopped it.
    Terminated = 143,
}

impl ExitStatus {
    /// Returns the number that the process ends with.
    pub(crate) fn code(self) -> u8 {
        self as u8
    }

    /// Returns the exit status of a turn that ended.
    pub(crate) fn of(outcome: &Outcome) -> Self {
        match &outcome.status {
            OutcomeStatus::Cancelled => Self::Interrupted,
            OutcomeStatus::TimedOut
            | OutcomeStatus::Failed { class: FailureClass::Budget(_), .. } => Self::BudgetSpent,
            OutcomeStatus::Failed { class: FailureClass::Provider, .. } => Self::ProviderFailed,
            OutcomeStatus::Failed { .. } | OutcomeStatus::Rejected { .. } => Self::Failure,
            OutcomeStatus::Done if outcome.work.calls_denied > 0 => Self::NotApproved,
            OutcomeStatus::NeedsInput => Self::NeedsInput,
            OutcomeStatus::Done => match outcome.work.last_call {
                Some(LastCall::Failed) => Self::ToolFailed,
                Some(LastCall::Unsuccessful) => Self::Unsuccessful,
                Some(LastCall::Succeeded) | None => Self::Success,
            },
        }
    }
}

impl From<ExitStatus> for ExitCode {
    fn from(status: ExitStatus) -> Self {
        Self::from(status.code())
    }
}

/// An error of a command, with its exit status.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) status: ExitStatus,
    pub(crate) message: String,
}

impl Failure {
    /// Returns a failure that the user can act on.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self { status: ExitStatus::WrongUsage, message: message.into() }
    }

    /// Returns a failure of a model's provider.
    pub(crate) fn provider(message: impl Into<String>) -> Self {
        Self { status: ExitStatus::ProviderFailed, message: message.into() }
    }

    /// Returns a failure of the command itself.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self { status: ExitStatus::Failure, message: message.into() }
    }
}

impl From<AppError> for Failure {
    fn from(error: AppError) -> Self {
        let status = match error.kind() {
            ErrorKind::Usage => ExitStatus::WrongUsage,
            ErrorKind::Provider => ExitStatus::ProviderFailed,
            ErrorKind::Failure => ExitStatus::Failure,
        };
        Self { status, message: error.to_string() }
    }
}

impl From<EvalError> for Failure {
    fn from(error: EvalError) -> Self {
        match error {
            EvalError::Requests(message) => Self::usage(message),
            EvalError::Collection(error) => Self::usage(error.to_string()),
            EvalError::Model(error) => Self::provider(error.to_string()),
            EvalError::Embedding(message) => Self::provider(message),
            EvalError::Retrieval(error) => error.into(),
            EvalError::Store(error) => error.into(),
            EvalError::Io(error) => error.into(),
        }
    }
}

/// Converts errors that are also errors of the application.
macro_rules! through_app_error {
    ($($error:ty),* $(,)?) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                AppError::from(error).into()
            }
        })*
    };
}

through_app_error! {
    ConfigError,
    lango_a2a::remote::RemoteError,
    lango_automator::AutomatorError,
    lango_keystore::KeyStoreError,
    lango_chronicler::ChroniclerError,
    lango_librarian::LibrarianError,
    lango_librarian::documents::IngestError,
    lango_mcp::client::ClientError,
    lango_operator::WorkspaceError,
    lango_payments::PaymentError,
    lango_retrieval::RetrievalError,
    lango_protocol::InvalidName,
    lango_runtime::TurnError,
    lango_server::CallersError,
    lango_server::ListenerError,
    lango_store::StoreError,
    std::io::Error,
}

/// Converts errors that only commands have, all of them about the user's input.
macro_rules! through_usage {
    ($($error:ty),* $(,)?) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::usage(error.to_string())
            }
        })*
    };
}

through_usage! {
    lango_librarian::documents::SourceError,
    lango_mcp::server::StdioError,
    lango_tool::ToolError,
    toml::ser::Error,
}

#[cfg(test)]
mod tests;
