//! Tests the reading of shell commands.
//!
//! In the tables a step is its words with blanks between them, after `=` if its arguments are the
//! reason why only a rule for exactly these words may allow it. Programs that are not listed need
//! such a rule in any case.
#![expect(clippy::unwrap_used, reason = "clippy knows tests by their attribute, not their helpers")]

mod generate;
mod language;
mod limits;
mod programs;
mod properties;
mod real_shell;
mod wrappers;

use lango_shell_command::{CommandStep, read_command};

const UNLISTED: &str = "what it does with other arguments is not known";

fn render_step(step: &CommandStep) -> String {
    let exact =
        if step.exact_only.as_deref().is_some_and(|why| why != UNLISTED) { "=" } else { "" };
    format!("{exact}{}", step.words.join(" "))
}

fn steps(command: &str) -> Vec<String> {
    read_command(command).steps.iter().map(render_step).collect()
}

/// Asserts that the command is read as these steps, and as nothing else.
fn reads(command: &str, expected: &[&str]) {
    let reading = read_command(command);
    assert_eq!(reading.unreadable, None, "{command:?}");
    assert_eq!(steps(command), expected, "{command:?}");
}

/// Asserts that the command is not read completely, and that these steps are known all the same.
fn gives_up(command: &str, expected: &[&str]) {
    let reading = read_command(command);
    assert!(reading.unreadable.is_some(), "{command:?} should not be readable: {reading:?}");
    assert_eq!(steps(command), expected, "{command:?}");
}

fn reason(command: &str) -> String {
    read_command(command).unreadable.unwrap_or_default()
}
