//! What of the server can be configured, and its limits.

use std::time::Duration;

use super::incoming::INPUT_MODES;

/// How the door behaves. The defaults are meant for use as they are.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Whether callers are told apart. Where they are not, two of them may call different messages
    /// the same, so a message counts as a repetition only within a context or task that it names.
    pub callers_are_known: bool,
    /// Whether protocol 0.3 is spoken too. The card then has the members that its clients look for.
    pub speak_03: bool,
    /// Media types of parts that are read.
    pub input_modes: Vec<String>,
    /// Bytes of a request.
    pub body_bytes: usize,
    /// Turns of one caller at the same time.
    pub turns_of_caller: usize,
    /// Streams that follow one task.
    pub followers_of_task: usize,
    /// Push notification configurations of one task.
    pub notifications_of_task: usize,
    /// How long a caller that stops a task waits for it to stop.
    pub cancel_wait: Duration,
    /// How often a silent stream says that it is there.
    pub keep_alive: Duration,
    /// How often a notification is tried, and how long is waited after the first failure.
    pub notification_attempts: u32,
    /// Doubled after each failure.
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
