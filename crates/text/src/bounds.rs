//! Cuts texts to a length, between characters, and puts them on one line.

/// Returns the beginning of a text, at most so many bytes of it.
pub fn truncate(text: &str, max_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(max_bytes)]
}

/// Returns the end of a text, at most so many bytes of it.
pub fn tail(text: &str, max_bytes: usize) -> &str {
    &text[text.ceil_char_boundary(text.len().saturating_sub(max_bytes))..]
}

/// Returns a text of at most so many bytes, with an ellipsis if something was cut off.
pub fn ellipsize(text: &str, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    format!("{}…", truncate(text, max_bytes.saturating_sub('…'.len_utf8())))
}

/// Returns the beginning of a text, at most so many characters of it.
pub fn truncate_characters(text: &str, max_characters: usize) -> &str {
    text.char_indices().nth(max_characters).map_or(text, |(end, _)| &text[..end])
}

/// Returns at most so many characters of a text, followed by an ellipsis if something was cut off.
pub fn ellipsize_characters(text: &str, max_characters: usize) -> String {
    let shown = truncate_characters(text, max_characters);
    if shown.len() == text.len() { text.to_owned() } else { format!("{}…", shown.trim_end()) }
}

/// Returns a text on one line: single spaces stand for white space and control characters.
pub fn to_single_spaced(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split(|character: char| character.is_whitespace() || character.is_control()) {
        if !word.is_empty() {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    line
}

/// Returns a text on one line as [`to_single_spaced`] does, at most so many characters of it, followed
/// by an ellipsis if something was cut off.
pub fn to_one_line(text: &str, max_characters: usize) -> String {
    ellipsize_characters(&to_single_spaced(text), max_characters)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(truncate("größe", 3), "gr");
        assert_eq!(truncate("größe", 4), "grö");
        assert_eq!(truncate("abc", 10), "abc");
        assert_eq!(tail("größe", 3), "ße");
        assert_eq!(tail("größe", 2), "e");
        assert_eq!(tail("abc", 10), "abc");
        assert_eq!(ellipsize("abcdef", 6), "abcdef");
        assert_eq!(ellipsize("abcdefg", 6), "abc…");
        assert_eq!(ellipsize("abc", 1), "…");
    }

    #[test]
    fn texts_are_cut_by_their_characters() {
        assert_eq!(truncate_characters("größe", 3), "grö");
        assert_eq!(truncate_characters("größe", 5), "größe");
        assert_eq!(truncate_characters("größe", 0), "");
        assert_eq!(ellipsize_characters("größe", 5), "größe");
        assert_eq!(ellipsize_characters("one two", 4), "one…");
    }

    #[test]
    fn a_text_becomes_one_line() {
        assert_eq!(to_one_line(" a\n b\t c ", 10), "a b c");
        assert_eq!(to_one_line("äöü äöü", 3), "äöü…");
        assert_eq!(to_single_spaced("a\u{1b}[2Kb\r\n\u{a0}c\0"), "a [2Kb c");
    }
}
