//! Says how far a piece of work is.

use std::fmt;

/// The state of a piece of work. It goes forward only: from waiting to started to one of the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkState {
    /// It waits for its time, or for its turn to run.
    Waiting,
    /// Its turn is queued or runs.
    Started,
    /// It was done.
    Done,
    /// It failed.
    Failed,
    /// It was cancelled.
    Cancelled,
    /// It did not run, for the reason that its result names.
    Skipped,
}

impl WorkState {
    const ALL: [Self; 6] =
        [Self::Waiting, Self::Started, Self::Done, Self::Failed, Self::Cancelled, Self::Skipped];

    /// Returns its name, which is also stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Started => "started",
            Self::Done => "done",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
            Self::Skipped => "skipped",
        }
    }

    /// Tells whether it has ended.
    pub fn has_ended(self) -> bool {
        !matches!(self, Self::Waiting | Self::Started)
    }

    pub(super) fn from_stored(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == name)
    }
}

impl fmt::Display for WorkState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
