//! Defines the options and limits of the server.

use std::time::Duration;

use super::incoming::INPUT_MODES;

/// Configures the endpoint. The defaults are meant for production.
#[derive(Debug, Clone)]
pub struct Settings {
    /// True if callers are told apart. Otherwise two callers may use the same id for different
    /// messages, so a message counts as a repetition only within a context or task that it names.
    pub callers_are_known: bool,
    /// True if protocol 0.3 is supported too. The card then has the members that its clients look
    /// for.
    pub speak_03: bool,
    /// The accepted media types of parts.
    pub input_modes: Vec<String>,
    /// The maximum size of a request in bytes.
    pub body_bytes: usize,
    /// The maximum number of concurrent turns per caller.
    pub turns_of_caller: usize,
    /// The maximum number of streams that follow one task.
    pub followers_of_task: usize,
    /// The maximum number of push notification configurations per task.
    pub notifications_of_task: usize,
    /// The time that a cancel request waits for the task to stop.
    pub cancel_wait: Duration,
    /// The interval of keep-alive messages on a silent stream.
    pub keep_alive: Duration,
    /// The maximum number of attempts to send a notification.
    pub notification_attempts: u32,
    /// The pause after the first failed attempt. It doubles after each failure.
    pub notification_pause: Duration,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            callers_are_known: true,
            speak_03: true,
            input_modes: INPUT_MODES.map(str::to_owned).to_vec(),
            body_bytes: 4 * 1024 * 1024,
            turns_of_caller: 256,
            followers_of_task: 32,
            notifications_of_task: 16,
            cancel_wait: Duration::from_secs(10),
            keep_alive: Duration::from_secs(15),
            notification_attempts: 5,
            notification_pause: Duration::from_secs(1),
        }
    }
}
