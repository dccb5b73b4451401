//! Shows a turn to a user or a program: progress on standard error, the answer on standard output.

mod json;
mod text;

use std::io;

use lango_app::provider::PriceList;
use lango_protocol::{CallId, Event, EventBody, Outcome};

use clap::ValueEnum;

use crate::AnswerSource;
use crate::printer::{Printer, try_write_stderr};

/// The formats in which a turn is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// Progress, and the answer as text.
    Text,
    /// One JSON object at the end.
    Json,
    /// One JSON object for each event.
    StreamJson,
}

/// Says how a turn is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputOptions {
    /// The format.
    pub format: OutputFormat,
    /// Tells whether progress is left out.
    pub quiet: bool,
}

/// Shows the events of a turn.
pub struct Display {
    format: DisplayFormat,
    printer: Printer,
    /// The source of answers to approvals. The approver shows the question, in its place among the
    /// other events: this says when it is reached.
    answers: AnswerSource,
}

enum DisplayFormat {
    Text(text::TextDisplay),
    Json(json::JsonDisplay),
    StreamJson,
}

impl Display {
    /// Returns the display of a turn.
    pub fn new(
        printer: Printer,
        options: OutputOptions,
        answers: AnswerSource,
        prices: PriceList,
    ) -> Self {
        let format = match options.format {
            OutputFormat::Text => {
                DisplayFormat::Text(text::TextDisplay::new(printer, options.quiet, prices))
            }
            OutputFormat::Json => DisplayFormat::Json(json::JsonDisplay::default()),
            OutputFormat::StreamJson => DisplayFormat::StreamJson,
        };
        Self { format, printer, answers }
    }

    /// Returns the display of a conversation at a terminal.
    pub fn chat(printer: Printer, answers: AnswerSource, prices: PriceList) -> Self {
        let format = DisplayFormat::Text(text::TextDisplay::new(printer, false, prices));
        Self { format, printer, answers }
    }

    /// Shows an event.
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        match &mut self.format {
            DisplayFormat::Text(display) => display.event(event),
            DisplayFormat::Json(display) => {
                display.event(event);
                Ok(())
            }
            DisplayFormat::StreamJson => self.printer.write_json_line(event),
        }?;
        let EventBody::ApprovalRequested { call, .. } = &event.body else { return Ok(()) };
        match &self.answers {
            AnswerSource::Here(terminal) => {
                terminal.mark_reached(call);
                Ok(())
            }
            AnswerSource::OtherProcess => show_where_to_answer(call),
            AnswerSource::Beforehand => Ok(()),
        }
    }

    /// Shows the end of a turn.
    pub fn finish(&mut self, outcome: &Outcome) -> io::Result<()> {
        match &mut self.format {
            DisplayFormat::Text(display) => display.finish(outcome),
            DisplayFormat::Json(display) => display.finish(self.printer, outcome),
            DisplayFormat::StreamJson => Ok(()),
        }
    }
}

/// Says where to answer a question that cannot be answered here.
fn show_where_to_answer(call: &CallId) -> io::Result<()> {
    let line = format!("waiting for an answer: lango approvals show {call}\n");
    try_write_stderr(&line.as_str().into())
}
