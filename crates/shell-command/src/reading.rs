//! Defines the result of reading a command.

use super::collector::ReadingCollector;
use super::context::CommandContext;
use super::parser::CommandParser;

/// Limits how many bytes of a command are read.
const MAX_COMMAND_BYTES: usize = 64 * 1024;

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
}

/// Describes a program or builtin that a command would run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandStep {
    /// The words that rules are compared with, without quotes and escapes.
    pub words: Vec<String>,
    /// The reason why only a rule for exactly these words may allow it: with other arguments it
    /// could do anything. None if a rule with a pattern may allow it too.
    pub exact_only: Option<String>,
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
