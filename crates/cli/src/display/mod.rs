//! Shows a turn to a user or a program: progress on standard error, the answer on standard output.

mod json;
mod style;
mod text;

use std::collections::BTreeSet;
use std::io::{self, Write};

use lango_app::provider::PriceList;
use lango_protocol::{CallId, Event, EventBody, Outcome};

use crate::arguments::{OutputArguments, OutputFormat};

use crate::terminal::AnswerSource;

pub(crate) use style::{Style, remove_control_characters};

/// Shows the events of a turn.
pub(crate) struct Display {
    format: DisplayFormat,
    /// The source of answers to approvals. The question is shown here, in its place among the other
    /// events; the approver only waits for the answer.
    answers: AnswerSource,
    /// Questions that wait for an answer. Only the first is shown at once: what is typed then
    /// answers it.
    open_questions: BTreeSet<CallId>,
}

enum DisplayFormat {
    Text(text::TextDisplay),
    Json(json::JsonDisplay),
    StreamJson,
}

impl Display {
    pub(crate) fn new(
        arguments: &OutputArguments,
        answers: AnswerSource,
        prices: PriceList,
    ) -> Self {
        let format = match arguments.output_format {
            OutputFormat::Text => {
                DisplayFormat::Text(text::TextDisplay::new(arguments.quiet, prices))
            }
            OutputFormat::Json => DisplayFormat::Json(json::JsonDisplay::default()),
            OutputFormat::StreamJson => DisplayFormat::StreamJson,
        };
        Self { format, answers, open_questions: BTreeSet::new() }
    }

    /// Returns the display of a conversation at a terminal.
    pub(crate) fn chat(answers: AnswerSource, prices: PriceList) -> Self {
        let format = DisplayFormat::Text(text::TextDisplay::new(false, prices));
        Self { format, answers, open_questions: BTreeSet::new() }
    }

    /// Shows an event.
    pub(crate) fn event(&mut self, event: &Event) -> io::Result<()> {
        match &mut self.format {
            DisplayFormat::Text(display) => display.event(event),
            DisplayFormat::Json(display) => {
                display.event(event);
                Ok(())
            }
            DisplayFormat::StreamJson => json::print_line(event),
        }?;
        match &event.body {
            EventBody::ApprovalRequested { call, tool, summary, always, .. }
                if self.answers == AnswerSource::Here =>
            {
                self.open_questions.insert(call.clone());
                if self.open_questions.len() > 1 {
                    return Ok(());
                }
                show_question(event.author.as_deref().unwrap_or_default(), tool, summary, always)
            }
            EventBody::ApprovalResolved { call, .. } => {
                self.open_questions.remove(call);
                Ok(())
            }
            EventBody::ApprovalRequested { call, .. }
                if self.answers == AnswerSource::OtherProcess =>
            {
                show_where_to_answer(call)
            }
            _ => Ok(()),
        }
    }

    /// Shows the end of a turn.
    pub(crate) fn finish(&mut self, outcome: &Outcome) -> io::Result<()> {
        match &mut self.format {
            DisplayFormat::Text(display) => display.finish(outcome),
            DisplayFormat::Json(display) => display.finish(outcome),
            DisplayFormat::StreamJson => Ok(()),
        }
    }
}

/// Shows a question to the user, always on standard error.
pub(crate) fn show_question(
    agent: &str,
    tool: &str,
    summary: &str,
    always: &[String],
) -> io::Result<()> {
    let effect: String = summary.lines().map(|line| format!("    {line}\n")).collect();
    let mut stderr = io::stderr().lock();
    write!(stderr, "\n{agent} wants to use {tool}:\n{effect}")?;
    if always.is_empty() {
        write!(stderr, "Allow this once? [y/N] ")?;
    } else {
        let rules: String = always.iter().map(|rule| format!("    {rule}\n")).collect();
        write!(stderr, "\"a\" for always would store:\n{rules}Allow this once? [y/a/N] ")?;
    }
    stderr.flush()
}

/// Says where to answer a question that cannot be answered here.
fn show_where_to_answer(call: &CallId) -> io::Result<()> {
    let mut stderr = io::stderr().lock();
    writeln!(stderr, "waiting for an answer: lango approvals show {call}")
}
