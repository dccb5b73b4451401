//! Splits a long text into pages that a terminal shows whole, so that a question does not scroll away
//! before it could be read.

/// The size of a terminal, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TerminalSize {
    pub(crate) rows: usize,
    pub(crate) columns: usize,
}

/// Keeps free what the question at the end of a page needs.
const RESERVED_ROWS: usize = 3;

/// Returns the pages of a text, which together are the whole text. A line that is longer than a page
/// is cut.
pub(crate) fn split_pages(text: &str, size: TerminalSize) -> Vec<&str> {
    let columns = size.columns.max(10);
    let rows = size.rows.saturating_sub(RESERVED_ROWS).max(3);
    let mut pages = Vec::new();
    let (mut start, mut used, mut column) = (0, 0, 0);
    for (position, character) in text.char_indices() {
        if character == '\n' {
            (used, column) = (used + 1, 0);
        } else {
            // A character of an East Asian script takes two columns.
            let width = if u32::from(character) >= 0x1100 { 2 } else { 1 };
            if column + width > columns {
                (used, column) = (used + 1, 0);
            }
            column += width;
        }
        if used >= rows {
            let end = position + if column == 0 { character.len_utf8() } else { 0 };
            pages.push(&text[start..end]);
            start = end;
            used = 0;
        }
    }
    if start < text.len() || pages.is_empty() {
        pages.push(&text[start..]);
    }
    pages
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_text_that_fits_is_one_page() {
        let size = TerminalSize { rows: 24, columns: 80 };
        assert_eq!(split_pages("a\nb\nc", size), ["a\nb\nc"]);
        assert_eq!(split_pages("", size), [""]);
        assert_eq!(split_pages(&"line\n".repeat(43), size).len(), 3);
        assert_eq!(split_pages(&"x".repeat(80 * 45), size).len(), 3);
    }

    proptest! {
        #[test]
        fn the_pages_are_the_whole_text_and_each_fits(
            text in "(?s)[a한\n ]{0,400}", rows in 4_usize..30, columns in 10_usize..40
        ) {
            let pages = split_pages(&text, TerminalSize { rows, columns });
            prop_assert_eq!(&pages.concat(), &text);
            for page in &pages {
                let height = page.matches('\n').count();
                prop_assert!(height <= rows.saturating_sub(RESERVED_ROWS).max(3), "{page:?}");
            }
        }
    }
}
