//! Output for programs.

use std::io;

use lango_protocol::{Event, EventBody, Outcome, SessionId, TurnId, Usage};
use serde::Serialize;

use crate::printer::Printer;

/// Prints one JSON object at the end.
#[derive(Debug, Default)]
pub(super) struct JsonDisplay {
    answer: Option<JsonAnswer>,
    usage: Usage,
}

#[derive(Debug, Clone)]
struct JsonAnswer {
    session: SessionId,
    turn: TurnId,
    author: String,
    text: String,
}

#[derive(Serialize)]
struct JsonResult<'a> {
    session: &'a SessionId,
    turn: TurnId,
    author: &'a str,
    text: &'a str,
    usage: Usage,
    outcome: &'a Outcome,
}

impl JsonDisplay {
    pub(super) fn event(&mut self, event: &Event) {
        match &event.body {
            EventBody::Message { text, answer: true } => {
                self.answer = Some(JsonAnswer {
                    session: event.session.clone(),
                    turn: event.turn,
                    author: event.author.clone().unwrap_or_default(),
                    text: text.clone(),
                });
            }
            EventBody::Usage { usage, .. } => {
                self.usage += *usage;
            }
            _ => {}
        }
    }

    pub(super) fn finish(&self, printer: Printer, outcome: &Outcome) -> io::Result<()> {
        // A turn always ends with an answer; without one there was nothing to print.
        let Some(answer) = &self.answer else { return Ok(()) };
        printer.write_json_line(&JsonResult {
            session: &answer.session,
            turn: answer.turn,
            author: &answer.author,
            text: &answer.text,
            usage: self.usage,
            outcome,
        })
    }
}
