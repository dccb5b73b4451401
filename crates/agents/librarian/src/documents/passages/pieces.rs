//! Cuts one block into pieces that are never divided again.

use super::super::read::document::saturating_count;
use super::super::read::{BlockKind, DocumentBlock, PositionSpan, PositionUnit};
use super::weight::{MAX_WEIGHT, character_weight, text_weight};

/// Limits the weight of the sentences that two neighbours share.
pub(crate) const MAX_OVERLAP_WEIGHT: usize = 240;

/// Represents a part of a block with its position and the separator before it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockPiece<'a> {
    pub(crate) text: &'a str,
    /// The separator from the piece before.
    pub(crate) glue: &'static str,
    pub(crate) span: PositionSpan,
    pub(crate) kind: BlockKind,
}

/// Returns the pieces of a block. Pieces of prose are smaller, to allow for an overlap.
pub(crate) fn cut_into_pieces(block: &DocumentBlock) -> Vec<BlockPiece<'_>> {
    let most = match block.kind {
        BlockKind::Paragraph | BlockKind::Heading(_) => MAX_WEIGHT - MAX_OVERLAP_WEIGHT,
        _ => MAX_WEIGHT,
    };
    let text = block.text.as_str();
    let whole = if block.kind == BlockKind::Code { text.trim_end() } else { text.trim() };
    let start = text.len() - text.trim_start().len();
    let start = if block.kind == BlockKind::Code { 0 } else { start };
    let mut ranges = vec![(start, start + whole.len())];
    // In this order: the largest units first, single words last.
    let cuts: &[fn(&str) -> Vec<usize>] = match block.kind {
        BlockKind::Paragraph | BlockKind::Heading(_) => {
            &[find_sentence_ends, find_line_ends, find_word_ends]
        }
        BlockKind::Code => &[find_blank_line_ends, find_line_ends, find_word_ends],
        BlockKind::List | BlockKind::Table => &[find_line_ends, find_sentence_ends, find_word_ends],
    };
    for cut in cuts {
        ranges = cut_heavy_ranges(text, ranges, most, *cut);
    }
    ranges = cut_heavy_ranges(text, ranges, most, |part| find_character_ends(part, most));
    locate_pieces(block, &ranges)
}

/// Cuts the ranges that weigh too much.
fn cut_heavy_ranges(
    text: &str,
    ranges: Vec<(usize, usize)>,
    most: usize,
    cut: impl Fn(&str) -> Vec<usize>,
) -> Vec<(usize, usize)> {
    let mut divided = Vec::with_capacity(ranges.len());
    for (start, end) in ranges {
        let part = &text[start..end];
        if text_weight(part) <= most {
            divided.push((start, end));
            continue;
        }
        let mut from = 0;
        for to in cut(part).into_iter().chain([part.len()]) {
            if to > from && !part[from..to].trim().is_empty() {
                divided.push((start + from, start + to));
                from = to;
            }
        }
    }
    divided
}

/// Gives ranges their text, their lines and the separators between them.
fn locate_pieces<'a>(block: &'a DocumentBlock, ranges: &[(usize, usize)]) -> Vec<BlockPiece<'a>> {
    let text = block.text.as_str();
    let (mut at, mut line) = (0, block.span.first);
    let mut pieces: Vec<BlockPiece<'a>> = Vec::with_capacity(ranges.len());
    let mut end_of_last = 0;
    for (start, end) in ranges {
        let part = &text[*start..*end];
        // Code keeps the indentation of its first line.
        let lead = match block.kind {
            BlockKind::Code => blank_lines(part),
            _ => part.len() - part.trim_start().len(),
        };
        let (start, body) = (start + lead, part[lead..].trim_end());
        let between = &text[end_of_last.min(start)..start];
        end_of_last = start + body.len();
        line += count_line_breaks(&text[at..start]);
        let first = line;
        line += count_line_breaks(body);
        at = end_of_last;
        let span = match block.span.unit {
            PositionUnit::Line => {
                let last = block.span.last;
                PositionSpan::lines(first.min(last), line.min(last))
            }
            _ => block.span,
        };
        let glue = match between.bytes().filter(|byte| *byte == b'\n').count() {
            _ if pieces.is_empty() => "\n\n",
            0 if between.is_empty() => "",
            0 => " ",
            1 => "\n",
            _ => "\n\n",
        };
        pieces.push(BlockPiece { text: body, glue, span, kind: block.kind });
    }
    pieces
}

/// Returns the length of the blank lines at the beginning.
fn blank_lines(part: &str) -> usize {
    let body = part.len() - part.trim_start().len();
    part[..body].rfind('\n').map_or(0, |last| last + 1)
}

fn count_line_breaks(text: &str) -> u32 {
    saturating_count(text.bytes().filter(|byte| *byte == b'\n').count())
}

/// Returns the positions after each sentence and the spaces that follow it.
pub(crate) fn find_sentence_ends(text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    for (index, character) in text.char_indices() {
        let after = index + character.len_utf8();
        if matches!(character, '。' | '！' | '？') {
            ends.push(after);
            continue;
        }
        if !matches!(character, '.' | '!' | '?' | '…') {
            continue;
        }
        let rest = text[after..].trim_start_matches(['"', '\'', ')', ']', '”', '’', '»', '*', '_']);
        let body = rest.trim_start();
        let spaced = body.len() < rest.len();
        // "e.g. this" goes on; "It ended. Then" does not.
        if spaced && !body.starts_with(char::is_lowercase) {
            ends.push(text.len() - body.len());
        }
    }
    ends
}

fn find_line_ends(text: &str) -> Vec<usize> {
    text.match_indices('\n').map(|(index, _)| index + 1).collect()
}

/// Returns the positions after blank lines.
fn find_blank_line_ends(text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let (mut at, mut was_blank) = (0, false);
    for line in text.split_inclusive('\n') {
        let is_blank = line.trim().is_empty();
        if was_blank && !is_blank {
            ends.push(at);
        }
        was_blank = is_blank;
        at += line.len();
    }
    ends
}

fn find_word_ends(text: &str) -> Vec<usize> {
    let spaces = text.char_indices().filter(|(_, character)| character.is_whitespace());
    spaces.map(|(index, character)| index + character.len_utf8()).collect()
}

/// Returns positions within a word, which is needed only if a word is longer than a passage.
fn find_character_ends(text: &str, most: usize) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut sum = 1;
    for (index, next) in text.char_indices() {
        let heavy = character_weight(next);
        if sum + heavy > most {
            ends.push(index);
            sum = 1;
        }
        sum += heavy;
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_people_end_them() {
        let text = "It is 3.5 m, e.g. long. \"Is it?\" Yes! 終わり。次";
        let mut from = 0;
        let ends = find_sentence_ends(text);
        let found: Vec<&str> = ends
            .iter()
            .chain([&text.len()])
            .map(|to| {
                let part = &text[from..*to];
                from = *to;
                part.trim()
            })
            .collect();
        assert_eq!(found, ["It is 3.5 m, e.g. long.", "\"Is it?\"", "Yes!", "終わり。", "次"]);
    }

    #[test]
    fn pieces_know_their_lines() {
        let long = "Word ".repeat(150);
        let text = format!("First line.\n{long}\nlast. End.");
        let block =
            DocumentBlock { kind: BlockKind::Paragraph, text, span: PositionSpan::lines(11, 13) };
        let found = cut_into_pieces(&block);
        assert_eq!(found[0].span.to_string(), "line 11");
        assert_eq!(found.last().unwrap().text, "End.");
        assert_eq!(found.last().unwrap().span.to_string(), "line 13");
    }

    #[test]
    fn a_word_longer_than_a_passage_is_cut_between_characters() {
        let block = DocumentBlock {
            kind: BlockKind::Paragraph,
            text: "é".repeat(2_000),
            span: PositionSpan::lines(1, 1),
        };
        let found = cut_into_pieces(&block);
        assert!(found.len() > 2 && found[1].glue.is_empty());
        assert_eq!(found.iter().map(|piece| piece.text.chars().count()).sum::<usize>(), 2_000);
    }
}
