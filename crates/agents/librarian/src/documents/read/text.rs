//! Reads plain text: paragraphs between blank lines.

use super::document::{BlockKind, DocumentBlock, PositionSpan, saturating_count};

/// Returns the paragraphs with their lines.
pub(crate) fn split_paragraphs(text: &str) -> Vec<DocumentBlock> {
    let mut blocks = Vec::new();
    let mut open: Option<(u32, usize, usize)> = None;
    let mut close = |open: &mut Option<(u32, usize, usize)>, last: u32| {
        if let Some((first, start, end)) = open.take() {
            blocks.push(DocumentBlock {
                kind: BlockKind::Paragraph,
                text: text[start..end].to_owned(),
                span: PositionSpan::lines(first, last),
            });
        }
    };
    let mut number = 0;
    for line in NumberedLines::new(text) {
        number = line.number;
        if line.text.trim().is_empty() {
            close(&mut open, number - 1);
        } else {
            let (first, start) =
                open.map_or((number, line.start), |(first, start, _)| (first, start));
            open = Some((first, start, line.start + line.text.len()));
        }
    }
    close(&mut open, number);
    blocks
}

/// Represents a line with its start and its number from 1.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NumberedLine<'a> {
    pub(crate) text: &'a str,
    pub(crate) start: usize,
    pub(crate) number: u32,
}

/// Iterates over the lines of a text without their ends.
pub(crate) struct NumberedLines<'a> {
    rest: std::str::SplitInclusive<'a, char>,
    start: usize,
    number: usize,
}

impl<'a> NumberedLines<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self { rest: text.split_inclusive('\n'), start: 0, number: 0 }
    }
}

impl<'a> Iterator for NumberedLines<'a> {
    type Item = NumberedLine<'a>;

    fn next(&mut self) -> Option<NumberedLine<'a>> {
        let whole = self.rest.next()?;
        let start = self.start;
        self.start += whole.len();
        self.number += 1;
        let text = whole.strip_suffix('\n').unwrap_or(whole);
        let text = text.strip_suffix('\r').unwrap_or(text);
        Some(NumberedLine { text, start, number: saturating_count(self.number) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_keep_their_lines() {
        let found = split_paragraphs("\none\r\ntwo\r\n \nthree\n\n\n");
        let shown: Vec<(&str, String)> =
            found.iter().map(|block| (block.text.as_str(), block.span.to_string())).collect();
        assert_eq!(shown, [("one\r\ntwo", "lines 2-3".to_owned()), ("three", "line 5".to_owned())]);
        assert!(split_paragraphs(" \n\t\n").is_empty());
    }
}
