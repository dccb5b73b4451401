//! Says why a text is no schedule.

/// The reason why a schedule is refused. Each names what to change.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// There is no text.
    #[error(
        "there is no schedule. Say when, such as \"every weekday at 9:00\" or \"in 40 minutes\""
    )]
    Empty,
    /// The text is longer than any schedule.
    #[error("the schedule is longer than {limit} characters. Say only when it should happen")]
    TooLong {
        /// The limit.
        limit: usize,
    },
    /// A word has no meaning here.
    #[error(
        "{word:?} is not understood as part of a schedule. Say it as \"every weekday at 9:00\", \
         \"every 10m\", \"tomorrow at noon\", \"at 2026-12-01T09:00\" or as a cron expression"
    )]
    UnknownWord {
        /// The word.
        word: String,
    },
    /// A cron expression has a mistake.
    #[error(
        "the cron expression {expression:?} is not valid: {reason}. It has five fields: minute hour \
         day month weekday"
    )]
    Cron {
        /// The expression.
        expression: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The parts contradict each other, or one is missing.
    #[error("{0}")]
    Unclear(String),
    /// It would never happen.
    #[error("it would never happen: {0}")]
    Never(String),
    /// It would have happened already.
    #[error("{0} has passed. Give a later time")]
    Past(String),
    /// It would happen too often.
    #[error("every {seconds} s is too often: the shortest interval is {shortest} s")]
    TooOften {
        /// The interval that was asked for.
        seconds: u64,
        /// The shortest one.
        shortest: u64,
    },
    /// The time zone is not known.
    #[error("the time zone {0:?} is not known. Give its name, such as Europe/Berlin or UTC")]
    Zone(String),
    /// A stored schedule cannot be read, which is a bug or a damaged database.
    #[error("the stored schedule {0:?} cannot be read")]
    Stored(String),
}
