//! Reads the command line. A text in place of a command is one for `lango run`.

use std::ffi::OsString;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use crate::{Arguments, Command};

/// The least similarity of a word to the command that it is taken for.
const LEAST_SIMILARITY: f64 = 0.8;

impl Arguments {
    /// Reads a command line, its first word being the program. `lango "text"` is `lango run "text"`;
    /// a single word that is no command is an error, because it is more likely a mistyped one.
    pub fn read(line: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let line: Vec<OsString> = line.into_iter().collect();
        let read = Self::try_parse_from(&line)?;
        let Some(Command::Text(words)) = &read.command else { return Ok(read) };
        let first = words.first().map(|word| word.to_string_lossy()).unwrap_or_default();
        let is_one_word = !first.contains(char::is_whitespace)
            && words.iter().skip(1).all(|word| word.to_string_lossy().starts_with('-'));
        if is_one_word {
            return Err(unknown_command(&first));
        }
        let (before, text) = line.split_at(line.len().saturating_sub(words.len()));
        let run = [OsString::from("run")];
        Self::try_parse_from(before.iter().chain(&run).chain(text))
    }
}

fn unknown_command(word: &str) -> clap::Error {
    let mut program = Arguments::command();
    let similarity = |name: &str| strsim::jaro_winkler(&word.to_lowercase(), name);
    let nearest = program
        .get_subcommands()
        .map(|command| (similarity(command.get_name()), command.get_name().to_owned()))
        .filter(|(similarity, _)| *similarity >= LEAST_SIMILARITY)
        .max_by(|left, right| left.0.total_cmp(&right.0));
    let mut text = format!("there is no command '{word}'\n");
    if let Some((_, command)) = nearest {
        text.push_str(&format!("\n  tip: a similar command exists: '{command}'"));
    }
    text.push_str(&format!("\n  tip: to ask the team, type: lango run {word:?}"));
    program.error(ErrorKind::InvalidSubcommand, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &[&str]) -> Result<Arguments, clap::Error> {
        let words = ["lango"].iter().chain(line).map(OsString::from);
        Arguments::read(words)
    }

    #[test]
    fn a_text_in_place_of_a_command_is_asked() {
        for (line, text, last) in [
            (&["list the files"][..], "list the files", false),
            (&["list", "the", "files"], "list the files", false),
            (&["-v", "list the files", "--last"], "list the files", true),
        ] {
            let Ok(Some(Command::Run(arguments))) = read(line).map(|read| read.command) else {
                panic!("{line:?} is not taken for a text");
            };
            assert_eq!(arguments.text.join(" "), text);
            assert_eq!(arguments.session.last, last);
        }
    }

    #[test]
    fn a_mistyped_command_is_not_asked() {
        let refused = read(&["docter"]).unwrap_err().to_string();
        assert!(refused.contains("'doctor'"), "{refused}");
        let refused = read(&["docter", "--json"]).unwrap_err().to_string();
        assert!(refused.contains("'doctor'"), "{refused}");
        let refused = read(&["hello"]).unwrap_err().to_string();
        assert!(refused.contains("lango run \"hello\""), "{refused}");
        assert!(read(&["list the files", "--no-such-option"]).is_err());
    }
}
