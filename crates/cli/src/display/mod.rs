//! Shows a turn to a user or a program: progress on standard error, the answer on standard output.

mod json;
mod text;

use std::io;

use lango_app::provider::PriceList;
use lango_protocol::{CallId, Event, EventBody, Outcome};

use crate::arguments::{OutputArguments, OutputFormat};
use crate::printer::{Printer, try_write_stderr};
use crate::terminal::AnswerSource;

/// Shows the events of a turn.
pub(crate) struct Display {
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
    pub(crate) fn new(
        printer: Printer,
        arguments: &OutputArguments,
        answers: AnswerSource,
        prices: PriceList,
    ) -> Self {
        let format = match arguments.output_format {
            OutputFormat::Text => {
                DisplayFormat::Text(text::TextDisplay::new(printer, arguments.quiet, prices))
            }
            OutputFormat::Json => DisplayFormat::Json(json::JsonDisplay::default()),
            OutputFormat::StreamJson => DisplayFormat::StreamJson,
        };
        Self { format, printer, answers }
    }

    /// Returns the display of a conversation at a terminal.
    pub(crate) fn chat(printer: Printer, answers: AnswerSource, prices: PriceList) -> Self {
        let format = DisplayFormat::Text(text::TextDisplay::new(printer, false, prices));
        Self { format, printer, answers }
    }

    /// Shows an event.
    pub(crate) fn event(&mut self, event: &Event) -> io::Result<()> {
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
    pub(crate) fn finish(&mut self, outcome: &Outcome) -> io::Result<()> {
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
