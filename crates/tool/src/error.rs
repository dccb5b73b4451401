//! Why a call did not work. The text is read by a model and, in the journal, by a person.

/// A tool's failure. None of these ends a turn: the model is told and decides.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// The arguments do not fit the tool's schema. Nothing was run.
    #[error("the arguments do not fit: {0}")]
    Arguments(String),
    /// What was asked is not permitted. Nothing was changed.
    #[error("not permitted: {0}")]
    Forbidden(String),
    /// It was tried and did not work.
    #[error("{0}")]
    Failed(String),
    /// It took longer than allowed and was stopped.
    #[error("stopped after {seconds} s; raise timeout_seconds or do less at once{partial}")]
    TimedOut {
        /// The limit.
        seconds: u64,
        /// What had come out by then, starting with a newline, or nothing.
        partial: String,
    },
    /// The turn was stopped.
    #[error("stopped because the turn was cancelled")]
    Cancelled,
}
