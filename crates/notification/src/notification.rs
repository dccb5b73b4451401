//! Describes a notification, which is short and of one line each, whatever it is made of.

use std::fmt;
use std::str::FromStr;

use lango_protocol::Timestamp;
use lango_text::{make_visible, to_one_line};
use serde::{Deserialize, Serialize};

/// Limits the characters of a title.
const MAX_TITLE_CHARACTERS: usize = 120;
/// Limits the characters of a text.
const MAX_TEXT_CHARACTERS: usize = 600;

/// What a person is told about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NotificationEvent {
    /// Work was done.
    Success,
    /// Work failed.
    Failure,
    /// Work waits for an answer of a person.
    Approval,
    /// It is time for what a person wanted to be reminded of.
    Reminder,
}

impl NotificationEvent {
    /// Lists all events.
    pub const ALL: [Self; 4] = [Self::Success, Self::Failure, Self::Approval, Self::Reminder];

    /// Returns its name, which is also stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::Approval => "approval",
            Self::Reminder => "reminder",
        }
    }
}

impl fmt::Display for NotificationEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for NotificationEvent {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let names = Self::ALL.map(Self::as_str).join(", ");
        let event = Self::ALL.into_iter().find(|event| event.as_str() == name);
        event.ok_or_else(|| format!("there is no event {name:?}; the events are {names}"))
    }
}

/// A notification.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Notification {
    /// Its id. A repeated attempt has the same one.
    pub id: String,
    /// What it is about.
    pub event: NotificationEvent,
    /// Its title.
    pub title: String,
    /// Its text.
    pub text: String,
    /// The time of what it tells.
    pub at: Timestamp,
}

impl Notification {
    /// Creates a notification. Title and text become one line each, of a limited length, in which
    /// nothing is invisible.
    pub fn new(
        id: String,
        event: NotificationEvent,
        title: &str,
        text: &str,
        at: Timestamp,
    ) -> Self {
        let title = make_visible(&to_one_line(title, MAX_TITLE_CHARACTERS));
        let text = make_visible(&to_one_line(text, MAX_TEXT_CHARACTERS));
        Self { id, event, title, text, at }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_and_texts_are_short_visible_lines() {
        let at = Timestamp::from_microseconds(0);
        let text = format!("a\nb\u{1b}[31m{}", "x".repeat(5000));
        let made =
            Notification::new("n".to_owned(), NotificationEvent::Failure, "t\r\nBcc: x", &text, at);
        assert!(!made.title.contains(['\r', '\n']), "{made:?}");
        assert!(!made.text.contains(['\n', '\u{1b}']), "{made:?}");
        assert!(made.text.chars().count() < 700, "{}", made.text.len());
    }

    #[test]
    fn events_are_named() {
        for event in NotificationEvent::ALL {
            assert_eq!(event.as_str().parse(), Ok(event));
        }
        assert!("end".parse::<NotificationEvent>().unwrap_err().contains("approval"));
    }
}
