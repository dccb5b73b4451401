//! Reads Markdown: headings, and blocks as their author wrote them.

use std::ops::Range;

use pulldown_cmark::{Event, HeadingLevel, Options, Parser, Tag};

use super::document::{BlockKind, DocumentBlock, PositionSpan, saturating_count};

/// Returns the blocks, and the title from the front matter or the first heading.
pub(crate) fn read_markdown(text: &str) -> (Option<String>, Vec<DocumentBlock>) {
    let (front, body) = read_front_matter(text);
    let lines = LineStarts::new(text);
    let mut blocks = Vec::new();
    let mut end = body;
    for (kind, heading, range) in find_top_level_blocks(&text[body..]) {
        let range = range.start + body..range.end + body;
        // Text outside of blocks, such as the target of a link, becomes a paragraph.
        push_block(&mut blocks, &lines, text, BlockKind::Paragraph, end..range.start, None);
        end = range.end.max(end);
        push_block(&mut blocks, &lines, text, kind, range, heading);
    }
    push_block(&mut blocks, &lines, text, BlockKind::Paragraph, end..text.len(), None);
    let title = front.or_else(|| {
        let first = blocks.iter().find(|block| matches!(block.kind, BlockKind::Heading(_)));
        first.map(|block| block.text.clone())
    });
    (title, blocks)
}

fn push_block(
    blocks: &mut Vec<DocumentBlock>,
    lines: &LineStarts,
    text: &str,
    kind: BlockKind,
    range: Range<usize>,
    heading: Option<String>,
) {
    let Some(whole) = text.get(range.clone()) else { return };
    let trimmed = whole.trim_end();
    if trimmed.trim().is_empty() {
        return;
    }
    // Lines are kept whole: a block begins at the start of its first line.
    let lead = trimmed.len() - trimmed.trim_start_matches(['\n', '\r']).len();
    let (begin, margin) = (range.start + lead, lines.start_of(range.start + lead));
    let start = if text[margin..begin].trim().is_empty() { margin } else { begin };
    let end = range.start + trimmed.len();
    let span = PositionSpan::lines(lines.line_number(start), lines.line_number(end - 1));
    match (kind, heading) {
        // A heading without words is no heading.
        (BlockKind::Heading(_), Some(heading)) if heading.trim().is_empty() => {
            let text = text[start..end].to_owned();
            blocks.push(DocumentBlock { kind: BlockKind::Paragraph, text, span });
        }
        (kind, heading) => {
            let text = heading.unwrap_or_else(|| text[start..end].to_owned());
            blocks.push(DocumentBlock { kind, text, span });
        }
    }
}

/// Returns the kind, the heading's text and the range of each top-level block.
fn find_top_level_blocks(body: &str) -> Vec<(BlockKind, Option<String>, Range<usize>)> {
    let mut found = Vec::new();
    let mut depth = 0usize;
    let mut current: Option<(BlockKind, Option<String>, Range<usize>)> = None;
    let options = Options::ENABLE_TABLES | Options::ENABLE_FOOTNOTES | Options::ENABLE_TASKLISTS;
    for (event, range) in Parser::new_ext(body, options).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                if depth == 0 {
                    let (kind, heading) = block_kind_of_tag(&tag);
                    current = Some((kind, heading.then(String::new), range));
                }
                depth += 1;
            }
            Event::End(_) => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    found.extend(current.take());
                }
            }
            Event::Text(words) | Event::Code(words) => {
                if let Some((_, Some(heading), _)) = &mut current {
                    heading.push_str(&words);
                }
            }
            Event::SoftBreak | Event::HardBreak => {
                if let Some((_, Some(heading), _)) = &mut current {
                    heading.push(' ');
                }
            }
            _ => {}
        }
    }
    found
}

fn block_kind_of_tag(tag: &Tag<'_>) -> (BlockKind, bool) {
    match tag {
        Tag::Heading { level, .. } => (BlockKind::Heading(heading_level_number(*level)), true),
        Tag::CodeBlock(_) => (BlockKind::Code, false),
        Tag::Table(_) => (BlockKind::Table, false),
        Tag::List(_) => (BlockKind::List, false),
        _ => (BlockKind::Paragraph, false),
    }
}

fn heading_level_number(level: HeadingLevel) -> u8 {
    match level {
        HeadingLevel::H1 => 1,
        HeadingLevel::H2 => 2,
        HeadingLevel::H3 => 3,
        HeadingLevel::H4 => 4,
        HeadingLevel::H5 => 5,
        HeadingLevel::H6 => 6,
    }
}

/// Returns the title in a header between `---` lines, and where the text after the header begins.
fn read_front_matter(text: &str) -> (Option<String>, usize) {
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == "---") else {
        return (None, 0);
    };
    let (mut end, mut title) = (first.len(), None);
    // A rule at the top of a text is not the beginning of a header: a header has keys.
    let mut has_keys = false;
    for line in lines {
        end += line.len();
        if matches!(line.trim_end(), "---" | "...") {
            return if has_keys { (title, end) } else { (None, 0) };
        }
        if let Some((key, value)) = line.split_once(':') {
            has_keys |= !key.trim().is_empty() && !key.contains(' ');
            if key == "title" {
                let value = value.trim().trim_matches(['"', '\'']).trim();
                title = Some(value.to_owned()).filter(|title| !title.is_empty());
            }
        }
    }
    (None, 0)
}

/// Holds the positions where lines begin.
struct LineStarts {
    starts: Vec<usize>,
}

impl LineStarts {
    fn new(text: &str) -> Self {
        let breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
        let starts = std::iter::once(0).chain(breaks.map(|(index, _)| index + 1)).collect();
        Self { starts }
    }

    /// Returns the line of a byte, from 1.
    fn line_number(&self, offset: usize) -> u32 {
        saturating_count(self.starts.partition_point(|start| *start <= offset))
    }

    fn start_of(&self, offset: usize) -> usize {
        let line = self.starts.partition_point(|start| *start <= offset);
        self.starts.get(line.saturating_sub(1)).copied().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<(BlockKind, String, String)> {
        let (_, blocks) = read_markdown(text);
        blocks.into_iter().map(|block| (block.kind, block.text, block.span.to_string())).collect()
    }

    #[test]
    fn blocks_stay_whole_and_keep_their_lines() {
        let text = "# The `lamp`\n\nFirst\nline.\n\n- one\n- two\n\n```sh\n# not a heading\n\nls\n```\n\n\
                    | a | b |\n|---|---|\n| 1 | 2 |\n\nSub\n---\n\n[link]: http://x\n";
        let found = shown(text);
        let kinds: Vec<(BlockKind, &str)> =
            found.iter().map(|(kind, _, span)| (*kind, span.as_str())).collect();
        assert_eq!(
            kinds,
            [
                (BlockKind::Heading(1), "line 1"),
                (BlockKind::Paragraph, "lines 3-4"),
                (BlockKind::List, "lines 6-7"),
                (BlockKind::Code, "lines 9-13"),
                (BlockKind::Table, "lines 15-17"),
                (BlockKind::Heading(2), "lines 19-20"),
                (BlockKind::Paragraph, "line 22"),
            ]
        );
        assert_eq!(found[0].1, "The lamp");
        assert_eq!(found[5].1, "Sub");
        assert_eq!(found[3].1, "```sh\n# not a heading\n\nls\n```");
    }

    #[test]
    fn a_header_gives_the_title_and_is_no_text() {
        let (title, blocks) =
            read_markdown("---\ntitle: \"On lamps\"\ntags: [a]\n---\n# Other\n\ntext\n");
        assert_eq!(title.as_deref(), Some("On lamps"));
        assert_eq!(blocks[0].span.to_string(), "line 5");
        assert_eq!(blocks.len(), 2);
        // A rule, not a header.
        let (_, blocks) = read_markdown("---\nsome words\n\n---\nmore\n");
        assert!(blocks.iter().any(|block| block.text.contains("some words")), "{blocks:?}");
    }

    #[test]
    fn the_first_heading_is_the_title_otherwise() {
        assert_eq!(read_markdown("intro\n\n## Two\n").0.as_deref(), Some("Two"));
        assert_eq!(read_markdown("intro\n").0, None);
    }

    #[test]
    fn code_that_is_indented_keeps_its_indentation() {
        let found = shown("text\n\n    indented\n      more\n");
        assert_eq!(found[1].1, "    indented\n      more");
    }
}
