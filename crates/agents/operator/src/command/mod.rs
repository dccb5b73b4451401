//! Reading a shell command: which programs would run, with which words.
//!
//! Rules about commands are compared with what is read here, never with the text. The reader
//! knows the language that `sh` has everywhere. Where shells differ, where a value is known only
//! when the command runs, and where the reader is not sure, the reading says so in
//! [`Reading::unreadable`], and no rule allows the command. The steps are still listed then, as
//! far as they could be told, so that a rule that forbids one of them holds.
//!
//! A step's words are assignments, then what the program gets, then marks: `<*1,2>` where the shell
//! fills in file names for the words at these positions (the program is at 0), and each redirection
//! as its operator and its target. No argument can pass for one of these: a command with such an
//! argument is not readable. So commands with different effects never have the same steps, and a
//! rule for exactly these words allows nothing else.
//!
//! Nothing is run here, and nothing is decided here. Only [`bound`] touches a disk.

mod builtins;
mod carried;
mod collector;
mod compound;
mod cursor;
mod documents;
mod expansion;
mod find;
mod git;
mod interpreters;
mod invocation;
mod keywords;
mod lexer;
mod mark;
mod parser;
mod programs;
mod redirection;
mod scripts;
mod sed;
mod shells;
mod word;
mod wrappers;

use lango_tool::Step;

use self::carried::Carried;
use self::collector::Collector;
use self::parser::Parser;
pub use self::scripts::bound;
pub(crate) use self::scripts::{Content, Script, look};

/// The longest command that is read, in bytes.
const LONGEST: usize = 64 * 1024;

/// What a command would do, as far as its text tells.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// Every program and builtin that would run. A wrapper such as `env` or `sh -c` is not among
    /// them, but what it leads to is.
    pub steps: Vec<Step>,
    /// Why the steps may not be all that would run, or not with these words.
    pub unreadable: Option<String>,
    /// The files whose content a step would run, as written: relative to the working directory.
    pub scripts: Vec<String>,
}

/// Reads a command that is meant for `sh -c`.
pub fn read(command: &str) -> Reading {
    let mut collector = Collector::default();
    if command.len() > LONGEST {
        collector.note(format!("it is longer than {} KiB", LONGEST / 1024));
    } else if command.contains('\0') {
        collector.note("it contains a NUL character");
    } else {
        Parser::read(&mut collector, command, &Carried::default(), 0);
    }
    collector.finish()
}
