//! Defines the words that are part of the shell's language.

use super::lexer::ends_word;

/// Lists the words that end a list of commands.
const CLOSING: [&str; 8] = ["then", "elif", "else", "fi", "do", "done", "esac", "}"];
/// Lists the words that start something that is not a program.
const OPENING: [&str; 8] = ["!", "{", "if", "while", "until", "for", "case", "in"];
/// Lists the words that are keywords in some shells and programs in others.
const SHELL_SPECIFIC: [&str; 5] = ["[[", "]]", "function", "select", "coproc"];

/// Tells whether a shell may read this as part of its language at the start of a command.
pub(super) fn is_keyword(word: &str) -> bool {
    CLOSING.contains(&word) || OPENING.contains(&word) || SHELL_SPECIFIC.contains(&word)
}

/// Tells whether this word ends a list of commands.
pub(super) fn closes_list(word: &str) -> bool {
    CLOSING.contains(&word)
}

/// Returns the keyword that the text starts with.
///
/// One that is quoted or broken over lines is not found here. If a command starts with such a word,
/// the reader gives up.
pub(super) fn keyword_at(text: &str) -> Option<&str> {
    let word = &text[..text.find(ends_word).unwrap_or(text.len())];
    is_keyword(word).then_some(word)
}
