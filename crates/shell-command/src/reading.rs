//! Defines the result of reading a command.

use super::collector::ReadingCollector;
use super::context::CommandContext;
use super::parser::CommandParser;

/// Limits how many bytes of a command are read. A longer one should not be run: a rule that denies a
/// part of it could not be applied.
pub const MAX_COMMAND_BYTES: usize = 64 * 1024;

/// Tells what a command would do, as far as its text shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandReading {
    /// Every program and builtin that would run. A wrapper such as `env` or `sh -c` is not among
    /// them, but what it leads to is.
    pub steps: Vec<CommandStep>,
    /// The reason why the steps may not be all that would run, or not with these words.
    pub unreadable: Option<String>,
    /// The files whose content a step would run, as written: relative to the working directory.
    pub scripts: Vec<String>,
    /// True if the working directory changes on the way, so that it is not known where a step runs.
    pub changes_directory: bool,
}

/// Describes a program or builtin that a command would run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandStep {
    /// The words that rules are compared with, without quotes and escapes.
    pub words: Vec<String>,
    /// The reason why only a rule for exactly these words may allow it: with other arguments it
    /// could do anything. None if a rule with a pattern may allow it too.
    pub exact_only: Option<String>,
    /// The position of the program among the words, after the assignments.
    pub(super) program: usize,
    /// The number of words that the program gets, itself included. Marks follow.
    pub(super) length: usize,
}

impl CommandStep {
    /// Returns the program with its arguments, without assignments and redirections.
    pub fn program_words(&self) -> &[String] {
        self.words.get(self.program..self.program + self.length).unwrap_or_default()
    }

    /// Returns the words from the program on, with redirections.
    pub fn words_from_program(&self) -> &[String] {
        self.words.get(self.program..).unwrap_or_default()
    }
}

/// Reads a command that is meant for `sh -c`.
pub fn read_command(command: &str) -> CommandReading {
    let mut collector = ReadingCollector::default();
    if command.len() > MAX_COMMAND_BYTES {
        collector.note_incomplete(format!("it is longer than {} KiB", MAX_COMMAND_BYTES / 1024));
    } else if command.contains('\0') {
        collector.note_incomplete("it contains a NUL character");
    } else {
        CommandParser::read(&mut collector, command, &CommandContext::default(), 0);
    }
    collector.finish()
}
