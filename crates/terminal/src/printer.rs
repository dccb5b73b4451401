//! Prints for commands: results on standard output, everything else on standard error.
//!
//! Nothing else of the program writes to either stream, so that what comes from files, models, peers
//! and the database is always made visible, whatever command prints it.

#![expect(clippy::disallowed_methods, reason = "this module makes visible what it writes")]

use std::env;
use std::io::{self, IsTerminal, Write};

use lango_text::make_json_visible;

use crate::display::{OutputFormat, OutputOptions};
use crate::pages::TerminalSize;
use crate::styled_text::StyledText;

/// Prints for a command.
#[derive(Debug, Clone, Copy)]
pub struct Printer {
    /// Tells whether the lines around an answer are printed.
    introduces: bool,
    /// Tells whether a program gets results as they are. A terminal never does.
    is_raw: bool,
}

/// Tells whether results are shown at a terminal.
pub fn stdout_is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Tells whether messages are shown at a terminal.
pub fn stderr_is_terminal() -> bool {
    io::stderr().is_terminal()
}

/// Tells whether a stream gets colours: only a terminal does, and never with `NO_COLOR`.
fn has_colour(stream: &impl IsTerminal) -> bool {
    let refused = env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    stream.is_terminal() && !refused && !is_dumb_terminal()
}

/// Tells whether the terminal understands no escape sequences.
pub fn is_dumb_terminal() -> bool {
    env::var_os("TERM").is_some_and(|term| term == "dumb")
}

/// Writes a text to standard error. With standard error closed there is no reader left, which is no
/// failure of the command.
pub fn write_stderr(text: &str) {
    let _ = try_write_stderr(&text.into());
}

/// Writes a text to standard error, and says if that is not possible.
pub fn try_write_stderr(text: &StyledText) -> io::Result<()> {
    let mut stream = io::stderr();
    let rendered = text.render(has_colour(&stream));
    stream.write_all(rendered.as_bytes()).and_then(|()| stream.flush())
}

/// Replaces the line of progress on standard error; an empty one removes it.
pub fn show_progress(line: &str) {
    // Terminals without escape sequences overwrite the line from its beginning.
    let erase = if is_dumb_terminal() { "\r" } else { "\r\x1b[2K" };
    let mut stream = io::stderr();
    let line = lango_text::make_text_visible(line);
    // Progress that cannot be shown is no failure.
    let _ = stream.write_all(format!("{erase}{line}").as_bytes()).and_then(|()| stream.flush());
}

/// Returns the size of the terminal that messages are shown at, if it is known.
pub(crate) fn stderr_size() -> Option<TerminalSize> {
    let size = rustix::termios::tcgetwinsize(io::stderr()).ok()?;
    let known = size.ws_row > 0 && size.ws_col > 0;
    known.then(|| TerminalSize { rows: size.ws_row.into(), columns: size.ws_col.into() })
}

/// Controls what a terminal reports about keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyReports {
    /// Pasted text comes between brackets.
    BracketedPaste,
    /// Pasted text comes as if it was typed.
    Usual,
}

/// Tells the terminal how to report keys.
pub(crate) fn set_key_reports(reports: KeyReports) {
    if is_dumb_terminal() || !stderr_is_terminal() {
        return;
    }
    let sequence = match reports {
        KeyReports::BracketedPaste => "\x1b[?2004h",
        KeyReports::Usual => "\x1b[?2004l",
    };
    let mut stream = io::stderr();
    // A terminal that is gone reports no keys.
    let _ = stream.write_all(sequence.as_bytes()).and_then(|()| stream.flush());
}

/// Removes the last character that a user typed from the line.
pub(crate) fn erase_typed_character() {
    let mut stream = io::stderr();
    // A terminal that is gone shows nothing.
    let _ = stream.write_all(b"\x08 \x08").and_then(|()| stream.flush());
}

impl Printer {
    /// Returns a printer that prints everything. With `is_raw`, a program that reads standard output
    /// gets texts as they are.
    pub fn new(is_raw: bool) -> Self {
        Self { introduces: true, is_raw }
    }

    /// Returns the printer of a turn: a program that reads JSON, or a quiet run, gets the answer
    /// alone.
    #[must_use]
    pub fn of_turn(self, options: OutputOptions) -> Self {
        let is_text = options.format == OutputFormat::Text;
        Self { introduces: is_text && !options.quiet, ..self }
    }

    /// Prints a result to standard output. A closed pipe is no error: the reader has seen enough.
    pub fn print(self, text: &str) -> io::Result<()> {
        self.print_styled(&text.into())
    }

    /// Prints a result with colours.
    pub fn print_styled(self, text: &StyledText) -> io::Result<()> {
        match self.write_styled(text) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            result => result,
        }
    }

    /// Writes a result to standard output, and says if that is not possible.
    pub fn write_result(self, text: &str) -> io::Result<()> {
        self.write_styled(&text.into())
    }

    fn write_styled(self, text: &StyledText) -> io::Result<()> {
        let mut stream = io::stdout().lock();
        let rendered = if self.is_raw && !stream.is_terminal() {
            text.to_raw()
        } else {
            text.render(has_colour(&stream))
        };
        stream.write_all(rendered.as_bytes()).and_then(|()| stream.flush())
    }

    /// Prints a result as indented JSON.
    pub fn json(self, value: &impl serde::Serialize) -> io::Result<()> {
        let text = serde_json::to_string_pretty(value).map_err(io::Error::from)?;
        self.print(&format!("{}\n", make_json_visible(&text)))
    }

    /// Prints JSON that was written piece by piece.
    pub fn print_json_text(self, json: &str) -> io::Result<()> {
        self.print(&make_json_visible(json))
    }

    /// Writes a result as JSON on one line, and says if that is not possible.
    pub fn write_json_line(self, value: &impl serde::Serialize) -> io::Result<()> {
        let text = serde_json::to_string(value)?;
        self.write_result(&format!("{}\n", make_json_visible(&text)))
    }

    /// Prints a note to standard error.
    pub fn note(self, text: &str) {
        write_stderr(&format!("lango: {text}\n"));
    }

    /// Prints a line around the answer of a turn, unless only the answer is wanted.
    pub fn introduce(self, line: &str) {
        if self.introduces {
            // With standard error closed, there is no reader of it.
            let _ = try_write_stderr(&StyledText::default().faint(line).plain("\n"));
        }
    }

    /// Tells whether the lines around an answer are printed.
    pub fn introduces(self) -> bool {
        self.introduces
    }
}
