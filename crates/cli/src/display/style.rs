//! Colours text for terminals that support it.

use std::env;
use std::io::IsTerminal;

/// Tells whether to colour text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Style {
    colour: bool,
}

impl Style {
    /// Returns the style of a stream: coloured only for a terminal, and never with `NO_COLOR`.
    pub(crate) fn of(stream: &impl IsTerminal) -> Self {
        let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = env::var_os("TERM").is_some_and(|term| term == "dumb");
        Self { colour: stream.is_terminal() && !refused && !dumb }
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colour { format!("\x1b[{code}m{text}\x1b[0m") } else { text.to_owned() }
    }

    pub(crate) fn name(self, text: &str) -> String {
        self.paint("1;36", text)
    }

    pub(crate) fn faint(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub(crate) fn good(self, text: &str) -> String {
        self.paint("32", text)
    }

    pub(crate) fn bad(self, text: &str) -> String {
        self.paint("31", text)
    }

    pub(crate) fn warn(self, text: &str) -> String {
        self.paint("33", text)
    }
}

/// Returns the text without terminal control characters.
pub(crate) fn remove_control_characters(text: &str) -> String {
    let keep = |character: &char| !character.is_control() || matches!(character, '\n' | '\t');
    text.chars().filter(keep).collect()
}
