//! Reads source code into pieces that begin at the left margin, as functions and types do.
//!
//! No language is parsed. Blank lines and indentation carry most of the structure in all of them.

use super::document::{BlockKind, DocumentBlock, PositionSpan};
use super::text::{NumberedLine, NumberedLines};

/// Returns pieces of code with their lines. A piece ends at a blank line if the next line begins at
/// the left margin and does not close the piece.
pub(crate) fn split_code(text: &str) -> Vec<DocumentBlock> {
    let mut blocks: Vec<DocumentBlock> = Vec::new();
    let mut open: Option<(NumberedLine<'_>, NumberedLine<'_>)> = None;
    let mut after_blank = false;
    for line in NumberedLines::new(text) {
        if line.text.trim().is_empty() {
            after_blank = true;
            continue;
        }
        if let Some((first, last)) = open.filter(|_| after_blank && begins_item(line.text)) {
            blocks.push(build_block(text, first, last));
            open = None;
        }
        after_blank = false;
        open = Some((open.map_or(line, |(first, _)| first), line));
    }
    blocks.extend(open.map(|(first, last)| build_block(text, first, last)));
    blocks
}

fn begins_item(line: &str) -> bool {
    line.starts_with(|first: char| !first.is_whitespace() && !matches!(first, '}' | ')' | ']'))
}

fn build_block(text: &str, first: NumberedLine<'_>, last: NumberedLine<'_>) -> DocumentBlock {
    DocumentBlock {
        kind: BlockKind::Code,
        text: text[first.start..last.start + last.text.len()].to_owned(),
        span: PositionSpan::lines(first.number, last.number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_at_the_left_margin_are_pieces() {
        let text = "use a;\n\nfn one() {\n    a();\n\n    b();\n}\n\n/// Two.\nfn two() {}\n";
        let found = split_code(text);
        let spans: Vec<String> = found.iter().map(|block| block.span.to_string()).collect();
        assert_eq!(spans, ["line 1", "lines 3-7", "lines 9-10"]);
        assert_eq!(found[1].text, "fn one() {\n    a();\n\n    b();\n}");
    }
}
