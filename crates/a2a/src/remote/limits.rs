//! How much an agent elsewhere may take of us.

use std::time::Duration;

/// The limits of one task. Whoever passes one has failed, and is told to stop.
#[derive(Debug, Clone)]
pub struct RemoteLimits {
    /// A task as a whole.
    pub task: Duration,
    /// Nothing at all from it.
    pub silence: Duration,
    /// Bytes of an answer that is not a stream.
    pub body_bytes: usize,
    /// Bytes of one event of a stream.
    pub event_bytes: usize,
    /// Bytes of a stream.
    pub stream_bytes: usize,
    /// Events of a task.
    pub events: usize,
    /// How often a stream that broke off is taken up again before the task is only asked about.
    pub resubscriptions: u32,
}

impl Default for RemoteLimits {
    fn default() -> Self {
        Self {
            task: Duration::from_mins(2),
            silence: Duration::from_secs(30),
            body_bytes: 1024 * 1024,
            event_bytes: 1024 * 1024,
            stream_bytes: 8 * 1024 * 1024,
            events: 10_000,
            resubscriptions: 3,
        }
    }
}
