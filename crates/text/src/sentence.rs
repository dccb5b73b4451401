//! Builds parts of sentences.

use std::fmt::Display;

use crate::truncate_characters;

/// Limits how many characters a code span has.
const MAX_CODE_CHARACTERS: usize = 160;

/// Returns a number with its noun: "1 file", "3 files".
pub fn plural<N: Copy + Display + PartialEq + From<u8>>(
    number: N,
    one: &str,
    several: &str,
) -> String {
    if number == N::from(1) { format!("1 {one}") } else { format!("{number} {several}") }
}

/// Returns a name, path or command as a Markdown code span: one line, not too long.
pub fn code_span(text: &str) -> String {
    let text = text.trim();
    let line = text.lines().next().unwrap_or_default().trim_end();
    let shown = truncate_characters(line, MAX_CODE_CHARACTERS);
    let more = if shown.len() < text.len() { " …" } else { "" };
    if shown.is_empty() {
        return "(nothing)".to_owned();
    }
    if shown.contains('`') { format!("`` {shown}{more} ``") } else { format!("`{shown}{more}`") }
}

/// Returns bytes in lower-case hexadecimal, such as a digest.
pub fn hex(bytes: impl AsRef<[u8]>) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value)]);
    bytes.as_ref().iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xf)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_in_a_sentence_is_one_short_line() {
        assert_eq!(code_span("make test"), "`make test`");
        assert_eq!(code_span("a`b"), "`` a`b ``");
        assert_eq!(code_span("one\ntwo"), "`one …`");
        assert_eq!(code_span("  "), "(nothing)");
        assert!(code_span(&"x".repeat(500)).len() < 180);
    }

    #[test]
    fn numbers_have_their_noun() {
        assert_eq!(plural(1, "file", "files"), "1 file");
        assert_eq!(plural(0, "file", "files"), "0 files");
    }

    #[test]
    fn bytes_are_written_in_hexadecimal() {
        assert_eq!(hex([0, 15, 255]), "000fff");
    }
}
