//! `lango help`: answers a question about Lango from the help page, or shows the help of a command.

use clap::CommandFactory as _;
use lango_embedded::answer_help_question;

use super::Printer;
use crate::failure::{ExitStatus, Failure};
use lango_arguments::Arguments;

pub(crate) fn help(printer: Printer, words: &[String]) -> Result<ExitStatus, Failure> {
    let mut program = Arguments::command();
    program.build();
    if let Some(command) = find_command(&mut program, words) {
        printer.print(&command.render_long_help().to_string())?;
        return Ok(ExitStatus::Success);
    }
    let question = words.join(" ");
    match answer_help_question(&question) {
        Some(answer) => {
            printer.print(&format!("{answer}\n"))?;
            Ok(ExitStatus::Success)
        }
        None => Err(Failure::usage(
            "the help page has no answer to that. All commands: lango --help. All questions: docs/help.md",
        )),
    }
}

/// Returns the command that the words name, such as `mcp add`; the program itself without words.
fn find_command<'c>(
    program: &'c mut clap::Command,
    words: &[String],
) -> Option<&'c mut clap::Command> {
    words.iter().try_fold(program, |command, word| command.find_subcommand_mut(word))
}
