//! Prints for commands: results on standard output, everything else on standard error.

use std::io::{self, Write};

use crate::arguments::{OutputArguments, OutputFormat};
use crate::display::Style;
use crate::failure::Failure;

/// Prints for a command.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Printer {
    /// Tells whether the lines around an answer are printed.
    introduces: bool,
}

/// Writes a text to standard error. With standard error closed there is no reader left, which is no
/// failure of the command.
pub(crate) fn write_stderr(text: &str) {
    let mut stream = io::stderr();
    let _ = stream.write_all(text.as_bytes()).and_then(|()| stream.flush());
}

#[expect(clippy::unused_self, reason = "a command prints with the printer that it is given")]
impl Printer {
    /// Returns a printer that prints everything.
    pub(crate) fn new() -> Self {
        Self { introduces: true }
    }

    /// Returns the printer of a turn: a program that reads JSON, or a quiet run, gets the answer
    /// alone.
    pub(crate) fn of_turn(arguments: &OutputArguments) -> Self {
        let is_text = arguments.output_format == OutputFormat::Text;
        Self { introduces: is_text && !arguments.quiet }
    }

    /// Prints a result to standard output. A closed pipe is no error: the reader has seen enough.
    pub(crate) fn print(self, text: &str) -> Result<(), Failure> {
        match io::stdout().lock().write_all(text.as_bytes()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            result => Ok(result?),
        }
    }

    /// Prints a result as indented JSON.
    pub(crate) fn json(self, value: &impl serde::Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string_pretty(value).map_err(io::Error::from)?;
        self.print(&format!("{text}\n"))
    }

    /// Prints a note to standard error.
    pub(crate) fn note(self, text: &str) {
        write_stderr(&format!("lango: {text}\n"));
    }

    /// Prints a line around the answer of a turn, unless only the answer is wanted.
    pub(crate) fn introduce(self, line: &str) {
        if self.introduces {
            let style = Style::of(&io::stderr());
            write_stderr(&format!("{}\n", style.faint(line)));
        }
    }

    /// Tells whether the lines around an answer are printed.
    pub(crate) fn introduces(self) -> bool {
        self.introduces
    }
}
