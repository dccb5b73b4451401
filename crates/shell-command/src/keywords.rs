//! Words that are part of the shell's language.

use super::lexer::ends_word;

/// Words that end a list of commands.
const CLOSING: [&str; 8] = ["then", "elif", "else", "fi", "do", "done", "esac", "}"];
/// Words that start something that is not a program.
const OPENING: [&str; 8] = ["!", "{", "if", "while", "until", "for", "case", "in"];
/// Words that start something in some shells, and are programs to others.
const DIFFERING: [&str; 5] = ["[[", "]]", "function", "select", "coproc"];

/// Whether a shell may read this as part of its language, where a command starts.
pub(super) fn is_keyword(word: &str) -> bool {
    CLOSING.contains(&word) || OPENING.contains(&word) || DIFFERING.contains(&word)
}

/// Whether this word ends a list of commands.
pub(super) fn closes(word: &str) -> bool {
    CLOSING.contains(&word)
}

/// The keyword that the text starts with.
///
/// One that is quoted or broken over lines is not found here. Where a command starts with such a
/// word, the reader gives up.
pub(super) fn keyword_at(text: &str) -> Option<&str> {
    let word = &text[..text.find(ends_word).unwrap_or(text.len())];
    is_keyword(word).then_some(word)
}
