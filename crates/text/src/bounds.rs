//! Cuts texts to a length, between characters.

/// Returns the beginning of a text, at most so many bytes of it.
pub fn truncate(text: &str, max_bytes: usize) -> &str {
    &text[..text.floor_char_boundary(max_bytes)]
}

/// Returns a text of at most so many bytes, with an ellipsis if something was cut off.
pub fn ellipsize(text: &str, max_bytes: usize) -> String {
    if text.len() <= max_bytes {
        return text.to_owned();
    }
    format!("{}…", truncate(text, max_bytes.saturating_sub('…'.len_utf8())))
}

/// Returns a text on one line with single spaces, at most so many characters of it, with an
/// ellipsis if something was cut off.
pub fn one_line(text: &str, max_characters: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(max_characters) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_between_characters() {
        assert_eq!(truncate("größe", 3), "gr");
        assert_eq!(truncate("größe", 4), "grö");
        assert_eq!(truncate("abc", 10), "abc");
        assert_eq!(ellipsize("abcdef", 6), "abcdef");
        assert_eq!(ellipsize("abcdefg", 6), "abc…");
        assert_eq!(ellipsize("abc", 1), "…");
    }

    #[test]
    fn a_text_becomes_one_line() {
        assert_eq!(one_line(" a\n b\t c ", 10), "a b c");
        assert_eq!(one_line("äöü äöü", 3), "äöü…");
    }
}
