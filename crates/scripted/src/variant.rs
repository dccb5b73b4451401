//! Defines wire variants that real servers are known for, the same for all replies of a script.

use std::num::NonZeroUsize;

use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;

use crate::fixture::{Framing, WireFixture};

/// Selects how the server deviates from the provider's own format. By default it does not.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a habit of its own, as scripts name it")]
pub struct WireVariant {
    /// The body comes in writes of so many bytes, so that characters, lines and events are split.
    pub chunk_bytes: Option<NonZeroUsize>,
    /// The text comes word by word, as models stream it.
    pub words: bool,
    /// Lines end in `\r\n`.
    pub crlf: bool,
    /// Comments and unknown kinds of events, or blank lines, are sent as well.
    pub comments: bool,
    /// Every document has unknown fields.
    pub unknown_fields: bool,
    /// The last mark of the stream is missing.
    pub no_end_mark: bool,
    /// There is no blank line between events.
    pub glued: bool,
    /// The position of the usage.
    pub usage: UsagePosition,
    /// OpenAI: all calls of a reply have the same number.
    pub duplicate_index: bool,
    /// OpenAI and Gemini: the reply comes as one document that is not a stream.
    pub whole: bool,
}

/// Says when the usage of a reply is sent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UsagePosition {
    /// At the end of the reply.
    #[default]
    End,
    /// Not at all.
    None,
    /// Before anything else, and not again.
    Early,
}

impl WireVariant {
    /// Changes the events of a reply, each complete with its end, to this form.
    pub(super) fn apply(&self, wire: &dyn WireFixture, pieces: Vec<Bytes>) -> Vec<Bytes> {
        let changes =
            self.crlf || self.comments || self.unknown_fields || self.no_end_mark || self.glued;
        if !changes {
            return pieces;
        }
        let is_left_out = |piece: &Bytes| self.no_end_mark && wire.is_end_mark(piece);
        let mut shaped = Vec::new();
        for (index, piece) in pieces.into_iter().filter(|piece| !is_left_out(piece)).enumerate() {
            if self.comments {
                shaped.extend(wire.noise(index).map(|noise| self.shape(wire, noise.as_bytes())));
            }
            shaped.push(self.shape(wire, &piece));
        }
        shaped
    }

    fn shape(&self, wire: &dyn WireFixture, piece: &[u8]) -> Bytes {
        let mut lines: Vec<Vec<u8>> = String::from_utf8_lossy(piece)
            .lines()
            .map(|line| if self.unknown_fields { with_unknown_fields(line) } else { line.into() })
            .collect();
        let separated = lines.last().is_some_and(Vec::is_empty);
        if self.glued && separated && wire.profile().framing == Framing::Events {
            lines.pop();
        }
        let end: &[u8] = if self.crlf { b"\r\n" } else { b"\n" };
        lines.into_iter().flat_map(|line| [line, end.to_vec()]).flatten().collect()
    }
}

/// Adds a field to every object of a line's document. What the model wrote stays as it is.
fn with_unknown_fields(line: &str) -> Vec<u8> {
    let start =
        line.find('{').filter(|at| line[..*at].trim().is_empty() || &line[..*at] == "data: ");
    let Some(start) = start else { return line.into() };
    let Ok(mut value) = serde_json::from_str::<Value>(&line[start..]) else { return line.into() };
    extend(&mut value);
    format!("{}{value}", &line[..start]).into()
}

fn extend(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(extend),
        Value::Object(fields) => {
            let own = |name: &str| matches!(name, "args" | "arguments" | "input");
            let inner = fields.iter_mut().filter(|(name, _)| !own(name));
            inner.for_each(|(_, value)| extend(value));
            fields.insert("x_later".to_owned(), serde_json::json!({"since": [2031, null]}));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use lango_model::Wire;

    use super::*;
    use crate::wires::fixture;

    fn shaped(variant: &WireVariant, wire: Wire, pieces: &[&'static str]) -> String {
        let pieces = pieces.iter().map(|piece| Bytes::from_static(piece.as_bytes())).collect();
        let shaped = variant.apply(fixture(wire), pieces).concat();
        String::from_utf8(shaped).unwrap()
    }

    const EVENTS: [&str; 2] = ["data: {\"a\":{\"input\":{}}}\n\n", "data: [DONE]\n\n"];

    #[test]
    fn each_habit_changes_the_stream_in_its_own_way() {
        let show = |variant: WireVariant| shaped(&variant, Wire::OpenAi, &EVENTS);
        assert_eq!(show(WireVariant::default()), EVENTS.concat());
        let crlf = show(WireVariant { crlf: true, ..WireVariant::default() });
        assert_eq!(crlf, EVENTS.concat().replace('\n', "\r\n"));
        let glued = show(WireVariant { glued: true, ..WireVariant::default() });
        assert_eq!(glued, "data: {\"a\":{\"input\":{}}}\ndata: [DONE]\n");
        let endless = show(WireVariant { no_end_mark: true, ..WireVariant::default() });
        assert_eq!(endless, EVENTS[0]);
        let talkative = show(WireVariant { comments: true, ..WireVariant::default() });
        assert!(talkative.starts_with(": keep-alive\n\ndata: {"), "{talkative}");
        let later = show(WireVariant { unknown_fields: true, ..WireVariant::default() });
        assert!(later.contains("\"input\":{}"), "{later}");
        assert_eq!(later.matches("x_later").count(), 2, "{later}");
    }

    #[test]
    fn a_line_stays_a_line() {
        let lines = ["{\"message\":{\"content\":\"a\"}}\n", "{\"done\":true}\n"];
        let variant =
            WireVariant { glued: true, comments: true, crlf: true, ..WireVariant::default() };
        let shown = shaped(&variant, Wire::Ollama, &lines);
        assert_eq!(shown, "\r\n{\"message\":{\"content\":\"a\"}}\r\n{\"done\":true}\r\n");
    }
}
