//! Builds a line from the keys of a terminal. It knows which characters were typed one by one, and
//! which came all at once, as a paste does.

use std::time::{Duration, Instant};

/// Limits the time between characters that arrive at once. No person types that fast.
pub(crate) const BURST_INTERVAL: Duration = Duration::from_millis(10);

/// Limits a line and a paste.
const MAX_LINE_BYTES: usize = 1024 * 1024;

/// The purpose of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LinePurpose {
    /// A message, which may be pasted.
    Message,
    /// The answer to a question with choices: a paste is none.
    Choice,
    /// A text that is asked for. It may be pasted, but only a typed Enter submits it.
    Field,
    /// The same, and it is not shown.
    Secret,
}

/// What a key does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeyEffect {
    /// Nothing that shows.
    None,
    /// These characters are shown.
    Echo(String),
    /// So many characters are removed from the end of the line.
    Erase(usize),
    /// The line is complete.
    Submit,
    /// Text came that was not typed, and it is no answer.
    Refuse,
    /// The user ended the input.
    End,
}

/// A part of an escape sequence.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Escape {
    /// The escape character.
    Begun,
    /// A sequence with parameters.
    Parameters(Vec<u8>),
    /// A sequence with one more character.
    Single,
}

/// Edits a line.
#[derive(Debug)]
pub(crate) struct LineEditor {
    purpose: LinePurpose,
    line: Vec<u8>,
    /// The time of the last key.
    last: Option<Instant>,
    /// True if keys of the line arrived at once.
    is_burst: bool,
    escape: Option<Escape>,
    /// The text between the brackets of a paste.
    paste: Option<Vec<u8>>,
}

impl LineEditor {
    pub(crate) fn new(purpose: LinePurpose) -> Self {
        Self { purpose, line: Vec::new(), last: None, is_burst: false, escape: None, paste: None }
    }

    /// Returns the line so far.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.line).into_owned()
    }

    /// Takes a byte that arrived now.
    pub(crate) fn push(&mut self, byte: u8, now: Instant) -> KeyEffect {
        if let Some(escape) = self.escape.take() {
            return self.continue_escape(escape, byte);
        }
        if byte == 0x1b {
            self.escape = Some(Escape::Begun);
            return KeyEffect::None;
        }
        if let Some(paste) = &mut self.paste {
            if paste.len() < MAX_LINE_BYTES {
                paste.push(byte);
            }
            return KeyEffect::None;
        }
        let is_close = self.note_key(byte, now);
        match byte {
            b'\n' | b'\r' if self.is_burst && self.purpose != LinePurpose::Message => {
                KeyEffect::Refuse
            }
            b'\n' | b'\r' => KeyEffect::Submit,
            // Ctrl-D
            0x04 if self.line.is_empty() => KeyEffect::End,
            0x04 if self.purpose == LinePurpose::Message => KeyEffect::Submit,
            // Backspace
            0x08 | 0x7f => self.erase(1, is_close),
            // Ctrl-U and Ctrl-W
            0x15 => self.erase(usize::MAX, is_close),
            0x17 => self.erase_word(is_close),
            b'\t' if self.purpose == LinePurpose::Message => self.insert(byte),
            0..0x20 => KeyEffect::None,
            _ => self.insert(byte),
        }
    }

    /// Notes when a key arrives, and returns whether it came at once with the one before. Enter does
    /// not count: with a single key before it, it cannot be told from a quick finger.
    fn note_key(&mut self, byte: u8, now: Instant) -> bool {
        // The bytes of one character always arrive at once.
        if matches!(byte, b'\n' | b'\r' | 0x80..0xc0) {
            return false;
        }
        let is_close = self.last.is_some_and(|last| now.duration_since(last) < BURST_INTERVAL);
        self.is_burst |= is_close;
        self.last = Some(now);
        is_close
    }

    fn insert(&mut self, byte: u8) -> KeyEffect {
        if self.line.len() >= MAX_LINE_BYTES {
            return KeyEffect::None;
        }
        self.line.push(byte);
        // A character is shown once it is complete.
        let start = self.line.iter().rposition(|byte| !(0x80..0xc0).contains(byte)).unwrap_or(0);
        match std::str::from_utf8(&self.line[start..]) {
            Ok(character) => KeyEffect::Echo(character.to_owned()),
            Err(_) => KeyEffect::None,
        }
    }

    fn erase(&mut self, most: usize, is_close: bool) -> KeyEffect {
        let mut erased = 0;
        while erased < most && !self.line.is_empty() {
            while self.line.pop().is_some_and(|byte| (0x80..0xc0).contains(&byte)) {}
            erased += 1;
        }
        // A user who empties the line begins anew; a paste does not.
        if self.line.is_empty() && !is_close {
            self.is_burst = false;
        }
        KeyEffect::Erase(erased)
    }

    fn erase_word(&mut self, is_close: bool) -> KeyEffect {
        let text = self.text();
        let kept = text.trim_end().rfind(char::is_whitespace).map_or(0, |at| at + 1);
        self.erase(text[kept..].chars().count(), is_close)
    }

    fn continue_escape(&mut self, escape: Escape, byte: u8) -> KeyEffect {
        match (escape, byte) {
            (Escape::Begun, b'[') => self.escape = Some(Escape::Parameters(Vec::new())),
            (Escape::Begun, b'O') => self.escape = Some(Escape::Single),
            (Escape::Begun, 0x1b) => self.escape = Some(Escape::Begun),
            (Escape::Parameters(parameters), b'~') if parameters == b"200" => {
                self.paste = Some(Vec::new());
            }
            (Escape::Parameters(parameters), b'~') if parameters == b"201" => {
                return self.take_paste();
            }
            // Final bytes end a sequence; what it asks for, such as an arrow, is not supported.
            (Escape::Parameters(_), 0x40..=0x7e) | (Escape::Single | Escape::Begun, _) => {}
            (Escape::Parameters(mut parameters), byte) if parameters.len() < 16 => {
                parameters.push(byte);
                self.escape = Some(Escape::Parameters(parameters));
            }
            (Escape::Parameters(_), _) => {}
        }
        KeyEffect::None
    }

    fn take_paste(&mut self) -> KeyEffect {
        let Some(pasted) = self.paste.take() else { return KeyEffect::None };
        let pasted = String::from_utf8_lossy(&pasted).replace("\r\n", "\n").replace('\r', "\n");
        let is_allowed = match self.purpose {
            LinePurpose::Message => true,
            LinePurpose::Field | LinePurpose::Secret => !pasted.contains('\n'),
            LinePurpose::Choice => pasted.is_empty(),
        };
        if !is_allowed {
            return KeyEffect::Refuse;
        }
        self.line.extend_from_slice(pasted.as_bytes());
        KeyEffect::Echo(pasted)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Presses keys so far apart, until one of them ends the line.
    fn press(purpose: LinePurpose, keys: &[u8], apart: Duration) -> (KeyEffect, String) {
        let mut editor = LineEditor::new(purpose);
        let mut now = Instant::now();
        for key in keys {
            let effect = editor.push(*key, now);
            if matches!(effect, KeyEffect::Submit | KeyEffect::Refuse | KeyEffect::End) {
                return (effect, editor.text());
            }
            now += apart;
        }
        (KeyEffect::None, editor.text())
    }

    const TYPING: Duration = Duration::from_millis(60);

    proptest! {
        #[test]
        fn several_keys_at_once_never_answer(keys in "[ -~\\x01-\\x03\\x05-\\x08\\x15\\x17\\x7f]{2,20}") {
            for purpose in [LinePurpose::Choice, LinePurpose::Field] {
                let keys = format!("{keys}\ny\n");
                prop_assert_eq!(press(purpose, keys.as_bytes(), Duration::ZERO).0, KeyEffect::Refuse);
            }
        }

        #[test]
        fn nothing_within_the_marks_of_a_paste_answers(pasted in "[ -~\n\r\\x04\\x15]{0,20}") {
            for apart in [Duration::ZERO, TYPING] {
                let keys = format!("\x1b[200~{pasted}\x1b[201~");
                let end = press(LinePurpose::Choice, keys.as_bytes(), apart).0;
                prop_assert!(matches!(end, KeyEffect::None | KeyEffect::Refuse), "{:?}", end);
            }
        }
    }

    #[test]
    fn typed_characters_make_an_answer_and_those_that_come_at_once_do_not() {
        for purpose in [LinePurpose::Choice, LinePurpose::Field, LinePurpose::Message] {
            let typed = press(purpose, b"yes\n", TYPING);
            assert_eq!(typed, (KeyEffect::Submit, "yes".to_owned()), "{purpose:?}");
            let at_once = press(purpose, b"yes\n", Duration::ZERO).0;
            let expected = match purpose {
                LinePurpose::Message => KeyEffect::Submit,
                _ => KeyEffect::Refuse,
            };
            assert_eq!(at_once, expected, "{purpose:?}");
        }
        assert_eq!(press(LinePurpose::Choice, b"y\n", Duration::ZERO).0, KeyEffect::Submit);
        assert_eq!(
            press(LinePurpose::Choice, "ä\n".as_bytes(), Duration::ZERO).0,
            KeyEffect::Submit
        );
        assert_eq!(press(LinePurpose::Choice, b"\n", Duration::ZERO).0, KeyEffect::Submit);
    }

    #[test]
    fn a_paste_is_a_message_and_no_answer() {
        let pasted = b"\x1b[200~y\r\nmore\x1b[201~\n";
        let message = press(LinePurpose::Message, pasted, TYPING);
        assert_eq!(message, (KeyEffect::Submit, "y\nmore".to_owned()));
        assert_eq!(press(LinePurpose::Choice, pasted, TYPING).0, KeyEffect::Refuse);
        assert_eq!(press(LinePurpose::Field, pasted, TYPING).0, KeyEffect::Refuse);
        let one_line = b"\x1b[200~y\x1b[201~\n";
        assert_eq!(press(LinePurpose::Choice, one_line, TYPING).0, KeyEffect::Refuse);
        assert_eq!(
            press(LinePurpose::Field, one_line, TYPING),
            (KeyEffect::Submit, "y".to_owned())
        );
        // A paste that does not end is not a line, whatever is in it.
        assert_eq!(press(LinePurpose::Choice, b"\x1b[200~y\ny\n", TYPING).0, KeyEffect::None);
    }

    #[test]
    fn a_line_can_be_corrected_and_other_keys_do_nothing() {
        for (keys, line) in [
            (&b"nx\x7f\n"[..], "n"),
            ("aä\x7f\x08b\n".as_bytes(), "b"),
            (b"all of it\x15y\n", "y"),
            (b"one two \x17x\n", "one x"),
            (b"\x1b[A\x1b[1;5Cy\x1bOP\x01\n", "y"),
        ] {
            assert_eq!(press(LinePurpose::Message, keys, TYPING), (KeyEffect::Submit, line.into()));
        }
        assert_eq!(press(LinePurpose::Choice, b"\x04", TYPING).0, KeyEffect::End);
        assert_eq!(press(LinePurpose::Choice, b"y\x04\n", TYPING).0, KeyEffect::Submit);
    }
}
