//! What a reader makes of a file: blocks in their order, each with its kind and place.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A file as it was understood.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// What the document calls itself; none where it does not.
    pub title: Option<String>,
    /// What it was read as.
    pub kind: DocumentKind,
    /// Its content, in order. Never empty.
    pub blocks: Vec<Block>,
    /// What a person should know about how it was read, such as bytes that had to be replaced.
    pub notes: Vec<String>,
}

/// What a file was read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DocumentKind {
    /// Plain text.
    Text,
    /// Markdown.
    Markdown,
    /// A web page.
    Html,
    /// A program's source.
    Code,
    /// PDF.
    Pdf,
    /// A Word document.
    Docx,
}

/// A part of a document that belongs together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// Its text. Where the span counts lines, it is these lines as they stand in the file.
    pub text: String,
    /// Where it stands.
    pub span: Span,
}

/// What a block is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BlockKind {
    /// A heading of a level from 1, the highest, to 9.
    Heading(u8),
    /// Sentences.
    Paragraph,
    /// Items, one or more lines each.
    List,
    /// Code, whose lines and indentation mean something.
    Code,
    /// A table, one row to a line; the first is its head.
    Table,
}

/// Where something stands in its document. Counted from 1, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Span {
    /// What is counted.
    pub unit: Unit,
    /// The first.
    pub first: u32,
    /// The last.
    pub last: u32,
}

/// What the positions of a document count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unit {
    /// Lines of a text file.
    Line,
    /// Pages.
    Page,
    /// Paragraphs, where there are neither lines nor pages that a reader would see.
    Paragraph,
}

impl Span {
    /// One place.
    pub fn at(unit: Unit, number: u32) -> Self {
        Self { unit, first: number, last: number }
    }

    /// Lines.
    pub fn lines(first: u32, last: u32) -> Self {
        Self { unit: Unit::Line, first, last }
    }

    /// Both, and what is between them.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            unit: self.unit,
            first: self.first.min(other.first),
            last: self.last.max(other.last),
        }
    }
}

impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.unit {
            Unit::Line => "line",
            Unit::Page => "page",
            Unit::Paragraph => "paragraph",
        };
        if self.first == self.last {
            write!(f, "{unit} {}", self.first)
        } else {
            write!(f, "{unit}s {}-{}", self.first, self.last)
        }
    }
}

/// A number of things, which is never so large that the limit matters.
pub(crate) fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
