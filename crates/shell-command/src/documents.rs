//! Reads here-documents, which are the lines after a command that it gets as input.

use super::context::CommandContext;
use super::cursor::TextCursor;
use super::expansion::Quoting;
use super::parser::{CommandParser, ParseStop};
use super::word::{ShellWord, WordBuilder};

/// Describes a here-document whose lines have not been read yet.
#[derive(Debug)]
pub(super) struct HereDocument {
    number: usize,
    delimiter: String,
    /// True if the delimiter was quoted: then the lines are data and nothing else.
    literal: bool,
    /// True if tabs at the start of lines are stripped.
    without_tabs: bool,
}

impl CommandParser<'_, '_> {
    /// Registers a here-document. Returns the placeholder for its text until it is read.
    pub(super) fn expect_document(&mut self, delimiter: ShellWord, without_tabs: bool) -> String {
        if delimiter.text.contains('\n') {
            self.collector.note_incomplete("the end of a here-document is not a line");
        }
        let (number, placeholder) = self.collector.reserve_document();
        self.documents.push(HereDocument {
            number,
            delimiter: delimiter.text,
            literal: delimiter.quoted,
            without_tabs,
        });
        placeholder
    }

    /// Reads the here-documents that start after the end of this line.
    pub(super) fn read_documents(&mut self) -> Result<(), ParseStop> {
        for document in std::mem::take(&mut self.documents) {
            self.read_document(&document)?;
        }
        Ok(())
    }

    /// Reports here-documents without lines.
    pub(super) fn check_documents(&mut self) {
        if !self.documents.is_empty() {
            self.collector.note_incomplete("a here-document has no end");
        }
    }

    fn read_document(&mut self, document: &HereDocument) -> Result<(), ParseStop> {
        let start = self.cursor.position();
        let text = loop {
            let text = self.cursor.text_since(start);
            let before = self.cursor.position();
            self.cursor.skip_line();
            let line = self.cursor.text_since(before);
            let is_last = !self.cursor.take_if('\n');
            let compared = if document.without_tabs { line.trim_start_matches('\t') } else { line };
            if compared == document.delimiter {
                break text;
            }
            if is_last {
                self.collector.note_incomplete("a here-document has no end");
                break self.cursor.text_since(start);
            }
            let backslashes = line.len() - line.trim_end_matches('\\').len();
            if !document.literal && backslashes % 2 == 1 {
                self.collector
                    .note_incomplete("shells differ on continued lines in a here-document");
            }
        };
        self.collector.fill_document(document.number, text);
        if document.literal { Ok(()) } else { self.read_expansions(text) }
    }

    /// Reads the commands in the expansions of a text.
    fn read_expansions(&mut self, text: &str) -> Result<(), ParseStop> {
        let context = CommandContext::default();
        let mut parser = CommandParser {
            cursor: TextCursor::new(text),
            collector: self.collector,
            context: &context,
            depth: self.depth + 1,
            documents: Vec::new(),
        };
        let mut ignored = WordBuilder::default();
        while parser.read_within_quotes(&mut ignored, Quoting::Text)? {}
        Ok(())
    }
}
