//! What a person or a program sees of a turn: progress on standard error, the answer on standard
//! output.

mod json;
mod style;
mod text;

use std::io;

use lango_protocol::{Event, Outcome};

use crate::arguments::{OutputArguments, OutputFormat};

pub(crate) use style::Style;

/// Shows the events of a turn.
pub(crate) enum Display {
    Text(text::TextDisplay),
    Json(json::JsonDisplay),
    StreamJson,
}

impl Display {
    pub(crate) fn new(arguments: &OutputArguments) -> Self {
        match arguments.output_format {
            OutputFormat::Text => Self::Text(text::TextDisplay::new(arguments.quiet)),
            OutputFormat::Json => Self::Json(json::JsonDisplay::default()),
            OutputFormat::StreamJson => Self::StreamJson,
        }
    }

    /// For a conversation at a terminal.
    pub(crate) fn chat() -> Self {
        Self::Text(text::TextDisplay::new(false))
    }

    /// The first line: which model, which session.
    pub(crate) fn introduce(&self, line: &str) -> io::Result<()> {
        match self {
            Self::Text(display) => display.introduce(line),
            Self::Json(_) | Self::StreamJson => Ok(()),
        }
    }

    /// Shows an event.
    pub(crate) fn event(&mut self, event: &Event) -> io::Result<()> {
        match self {
            Self::Text(display) => display.event(event),
            Self::Json(display) => {
                display.event(event);
                Ok(())
            }
            Self::StreamJson => json::print_line(event),
        }
    }

    /// The turn is over.
    pub(crate) fn finish(&mut self, outcome: &Outcome) -> io::Result<()> {
        match self {
            Self::Text(display) => display.finish(outcome),
            Self::Json(display) => display.finish(outcome),
            Self::StreamJson => Ok(()),
        }
    }
}
