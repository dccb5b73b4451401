//! Reads source code into pieces that begin at the left margin, as functions and types do.
//!
//! No language is parsed. Blank lines and indentation carry most of the structure in all of them.

use super::document::{Block, BlockKind, Span};
use super::text::{Line, Lines};

/// Returns pieces of code with their lines. A piece ends at a blank line if the next line begins at
/// the left margin and does not close the piece.
pub(crate) fn blocks(text: &str) -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    let mut open: Option<(Line<'_>, Line<'_>)> = None;
    let mut after_blank = false;
    for line in Lines::new(text) {
        if line.text.trim().is_empty() {
            after_blank = true;
            continue;
        }
        if let Some((first, last)) = open.filter(|_| after_blank && begins_item(line.text)) {
            blocks.push(block(text, first, last));
            open = None;
        }
        after_blank = false;
        open = Some((open.map_or(line, |(first, _)| first), line));
    }
    blocks.extend(open.map(|(first, last)| block(text, first, last)));
    blocks
}

fn begins_item(line: &str) -> bool {
    line.starts_with(|first: char| !first.is_whitespace() && !matches!(first, '}' | ')' | ']'))
}

fn block(text: &str, first: Line<'_>, last: Line<'_>) -> Block {
    Block {
        kind: BlockKind::Code,
        text: text[first.start..last.start + last.text.len()].to_owned(),
        span: Span::lines(first.number, last.number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_at_the_left_margin_are_pieces() {
        let text = "use a;\n\nfn one() {\n    a();\n\n    b();\n}\n\n/// Two.\nfn two() {}\n";
        let found = blocks(text);
        let spans: Vec<String> = found.iter().map(|block| block.span.to_string()).collect();
        assert_eq!(spans, ["line 1", "lines 3-7", "lines 9-10"]);
        assert_eq!(found[1].text, "fn one() {\n    a();\n\n    b();\n}");
    }
}
