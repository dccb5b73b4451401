//! Cuts blocks into passages, which are embedded, searched and shown.
//!
//! Passages follow the structure of a document. Only a block that is larger than a passage is cut,
//! along sentences, lines and words, in this order. Neighbours that were cut from one run of prose
//! share one or two sentences. The same document always gives the same passages.

mod pieces;
mod sections;
mod weight;

use super::read::{BlockKind, Document, PositionSpan};
use lango_text::{to_single_spaced, truncate_characters};
use pieces::{BlockPiece, MAX_OVERLAP_WEIGHT, cut_into_pieces, find_sentence_ends};
use sections::SectionList;
use serde::{Deserialize, Serialize};
use weight::{MAX_WEIGHT, text_weight};

/// Limit one heading, and a path of headings.
const MAX_HEADING_CHARACTERS: usize = 100;
const MAX_HEADING_PATH_CHARACTERS: usize = 240;

/// Represents a part of a document that is found as a whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Passage {
    /// The headings above it, from the highest: "Install > Linux". Empty where there are none.
    pub heading: String,
    /// Its text.
    pub text: String,
    /// Its position in the document.
    pub span: PositionSpan,
}

/// Cuts a document into passages.
pub fn cut_into_passages(document: &Document) -> Vec<Passage> {
    let mut cutter = PassageCutter::default();
    for block in &document.blocks {
        match block.kind {
            BlockKind::Heading(level) => cutter.add_heading(level, &block.text, block.span),
            kind => {
                let parts = cut_into_pieces(block);
                cutter.table_head = (kind == BlockKind::Table && parts.len() > 1)
                    .then(|| find_table_head(&block.text))
                    .flatten();
                for (number, mut piece) in parts.into_iter().enumerate() {
                    let again = number == 0 && kind == BlockKind::List && cutter.after_list;
                    if again {
                        // Consecutive items are one list.
                        piece.glue = "\n";
                    }
                    cutter.add_piece(piece);
                }
                cutter.after_list = kind == BlockKind::List;
                cutter.table_head = None;
            }
        }
    }
    cutter.end_section();
    cutter.done.into_passages()
}

/// Returns the head of a table, which is repeated in each of its parts.
fn find_table_head(table: &str) -> Option<String> {
    let mut lines = table.lines();
    let first = lines.next()?;
    let is_rule = |line: &&str| line.chars().all(|c| matches!(c, '|' | '-' | ':' | ' '));
    let head = match lines.next().filter(is_rule) {
        Some(rule) => format!("{first}\n{rule}"),
        None => first.to_owned(),
    };
    (text_weight(&head) <= MAX_OVERLAP_WEIGHT).then_some(head)
}

#[derive(Default)]
struct PassageCutter {
    done: SectionList,
    /// The number of passages that the current section has so far.
    parts: usize,
    /// The current headings, with their levels.
    chain: Vec<(u8, String)>,
    /// A heading that has no text yet.
    pending: Option<(u8, String, PositionSpan)>,
    text: String,
    weight: usize,
    span: Option<PositionSpan>,
    /// The start and the span of each piece of the current passage.
    tail: Vec<(usize, PositionSpan)>,
    table_head: Option<String>,
    after_list: bool,
}

impl PassageCutter {
    fn add_heading(&mut self, level: u8, text: &str, span: PositionSpan) {
        let superior = self.pending.as_ref().is_some_and(|(above, _, _)| *above < level);
        if superior {
            // It is the parent of the heading that follows it directly.
            self.pending = None;
        }
        self.end_section();
        self.after_list = false;
        let text = to_single_spaced(text);
        self.chain.retain(|(above, _)| *above < level);
        self.chain.push((level, truncate_heading(&text)));
        let is_whole = text.chars().count() <= MAX_HEADING_CHARACTERS
            && self.join_headings().chars().count() <= MAX_HEADING_PATH_CHARACTERS;
        self.pending = Some((level, text.clone(), span));
        if !is_whole {
            // A heading that does not fit into the path is kept as text.
            let block = super::read::DocumentBlock { kind: BlockKind::Paragraph, text, span };
            for piece in cut_into_pieces(&block) {
                self.add_piece(piece);
            }
        }
    }

    fn join_headings(&self) -> String {
        let names: Vec<&str> = self.chain.iter().map(|(_, name)| name.as_str()).collect();
        names.join(" > ")
    }

    /// Returns the path of the current headings, the nearest ones if not all fit.
    fn heading_path(&self) -> String {
        let mut names: Vec<&str> = Vec::new();
        let mut length = 0;
        for (_, name) in self.chain.iter().rev() {
            length += name.chars().count() + 3;
            if length > MAX_HEADING_PATH_CHARACTERS + 3 && !names.is_empty() {
                break;
            }
            names.insert(0, name);
        }
        names.join(" > ")
    }

    fn add_piece(&mut self, piece: BlockPiece<'_>) {
        let heavy = text_weight(piece.text);
        if self.weight > 0 && self.weight + heavy > MAX_WEIGHT {
            let shared = self.text_to_repeat(&piece);
            self.close_passage(false);
            if let Some((text, span)) = shared {
                self.weight = text_weight(&text);
                self.text = text;
                self.span = Some(span);
                if self.weight + heavy > MAX_WEIGHT {
                    // Both do not fit: the piece matters more.
                    (self.text, self.weight, self.span) = (String::new(), 0, None);
                }
            }
        }
        if let Some((_, _, span)) = self.pending.take() {
            self.span = Some(span);
        }
        if !self.text.is_empty() {
            self.text.push_str(piece.glue);
        }
        self.tail.push((self.text.len(), piece.span));
        self.text.push_str(piece.text);
        self.weight += heavy;
        self.span = Some(self.span.map_or(piece.span, |span| span.with(piece.span)));
    }

    /// Returns the text that the next passage repeats: the last sentences, or the head of a table.
    fn text_to_repeat(&self, next: &BlockPiece<'_>) -> Option<(String, PositionSpan)> {
        if let Some(head) = &self.table_head {
            return Some((head.clone(), next.span));
        }
        if next.kind != BlockKind::Paragraph {
            return None;
        }
        let mut starts = find_sentence_ends(&self.text);
        starts.retain(|start| *start < self.text.len());
        let fits = |start: &usize| text_weight(&self.text[*start..]) <= MAX_OVERLAP_WEIGHT;
        let mut last = starts.iter().rev().take(2).take_while(|start| fits(start));
        let first = *last.next()?;
        let start = last.next().copied().unwrap_or(first);
        let touched = self.tail.partition_point(|(begin, _)| *begin <= start).saturating_sub(1);
        let spans = self.tail.get(touched..)?.iter().map(|(_, span)| *span);
        Some((self.text[start..].to_owned(), spans.reduce(PositionSpan::with)?))
    }

    /// Ends the current passage. `ends_section` is true if its section ends with it.
    fn close_passage(&mut self, ends_section: bool) {
        let text = std::mem::take(&mut self.text);
        let span = self.span.take();
        self.weight = 0;
        self.tail.clear();
        if let Some(span) = span.filter(|_| !text.trim().is_empty()) {
            let text = text.trim_end().trim_start_matches(['\n', '\r']).to_owned();
            let passage = Passage { heading: self.heading_path(), text, span };
            self.parts += 1;
            self.done.push(passage, ends_section && self.parts == 1);
        }
    }

    fn end_section(&mut self) {
        if let Some((_, text, span)) = self.pending.take() {
            // A heading without text is the whole section.
            self.text = text;
            self.span = Some(span);
        }
        self.close_passage(true);
        self.parts = 0;
    }
}

/// Cuts a heading to its limit, between words.
fn truncate_heading(text: &str) -> String {
    let cut = truncate_characters(text, MAX_HEADING_CHARACTERS);
    if cut.len() == text.len() {
        return text.to_owned();
    }
    let words = cut.rsplit_once(' ').map_or(cut, |(words, _)| words);
    format!("{words}…")
}

#[cfg(test)]
mod tests;
