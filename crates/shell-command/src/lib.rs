//! Reads a shell command: which programs would run, with which words.
//!
//! Rules about commands are compared with what is read here, never with the text. The reader knows
//! the language that every `sh` supports. If shells differ, if a value is known only when the
//! command runs, or if the reader is not sure, the reading says so in [`CommandReading::unreadable`], and
//! no rule allows the command. The steps are still listed then, as far as they are known, so that a
//! rule that forbids one of them holds.
//!
//! A step's words are assignments, then what the program gets, then marks: `<*1,2>` if the shell
//! fills in file names for the words at these positions (the program is at 0), and each redirection
//! as its operator and its target. No argument can pass for one of these: a command with such an
//! argument is not readable. So commands with different effects never have the same steps, and a
//! rule for exactly these words allows nothing else.
//!
//! This crate runs nothing, decides nothing and does not access a disk.

mod builtins;
mod collector;
mod compound;
mod context;
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
mod only_reads;
mod parser;
mod programs;
mod reading;
mod redirection;
mod sed;
mod shells;
mod word;
mod wrappers;

pub use only_reads::READING_PROGRAMS;
pub use reading::{CommandReading, CommandStep, MAX_COMMAND_BYTES, read_command};
