//! Defines why a call failed. The text is read by a model and, in the journal, by users.

/// Describes a tool's failure. None of these ends a turn: the model is told and decides.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolError {
    /// The arguments do not fit the tool's schema. Nothing was run.
    #[error("the arguments do not fit: {0}")]
    Arguments(String),
    /// The request is not permitted. Nothing was changed.
    #[error("not permitted: {0}")]
    Forbidden(String),
    /// The call ran and failed.
    #[error("{0}")]
    Failed(String),
    /// The call took longer than allowed and was stopped.
    #[error("stopped after {seconds} s; raise timeout_seconds or do less at once{partial}")]
    TimedOut {
        /// The limit.
        seconds: u64,
        /// The output by then, starting with a newline, or an empty text.
        partial: String,
    },
    /// The turn was stopped.
    #[error("stopped because the turn was cancelled")]
    Cancelled,
}
