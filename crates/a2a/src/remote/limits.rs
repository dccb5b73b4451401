//! Defines how much a remote agent may consume.

use std::time::Duration;

/// The limits of one task. A task that exceeds one has failed and is canceled.
#[derive(Debug, Clone)]
pub struct RemoteLimits {
    /// The time for the whole task.
    pub task: Duration,
    /// The time without any data.
    pub silence: Duration,
    /// The size of an answer that is not a stream, in bytes.
    pub body_bytes: usize,
    /// The size of one event of a stream, in bytes.
    pub event_bytes: usize,
    /// The size of a stream, in bytes.
    pub stream_bytes: usize,
    /// The number of events of a task.
    pub events: usize,
    /// The number of attempts to resume a broken stream before the status is polled.
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
