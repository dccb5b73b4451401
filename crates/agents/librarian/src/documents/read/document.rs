//! Defines the document that a reader makes of a file: blocks in order, each with its kind and
//! position.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Represents a file that was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// The document's own title, if it has one.
    pub title: Option<String>,
    /// The format it was read as.
    pub kind: DocumentKind,
    /// Its content, in order. Never empty.
    pub blocks: Vec<DocumentBlock>,
    /// Remarks about how it was read, such as bytes that had to be replaced.
    pub notes: Vec<String>,
}

/// The format that a file was read as.
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

impl DocumentKind {
    /// Lists all formats.
    const ALL: [Self; 6] =
        [Self::Text, Self::Markdown, Self::Html, Self::Code, Self::Pdf, Self::Docx];

    /// Returns its name in the arguments of the helper.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Markdown => "markdown",
            Self::Html => "html",
            Self::Code => "code",
            Self::Pdf => "pdf",
            Self::Docx => "docx",
        }
    }

    pub(crate) fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// Represents a part of a document that belongs together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentBlock {
    /// The kind of the block.
    pub kind: BlockKind,
    /// The text. If the span counts lines, it is these lines as they are in the file.
    pub text: String,
    /// The position in the document.
    pub span: PositionSpan,
}

/// The kind of a block.
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

/// Represents a position in a document, counted from 1, with both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PositionSpan {
    /// The unit that is counted.
    pub unit: PositionUnit,
    /// The first.
    pub first: u32,
    /// The last.
    pub last: u32,
}

/// The unit in which positions are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PositionUnit {
    /// Lines of a text file.
    Line,
    /// Pages.
    Page,
    /// Paragraphs, if a reader sees neither lines nor pages.
    Paragraph,
}

impl PositionSpan {
    /// Returns a span of one unit.
    pub fn single(unit: PositionUnit, number: u32) -> Self {
        Self { unit, first: number, last: number }
    }

    /// Returns a span of lines.
    pub fn lines(first: u32, last: u32) -> Self {
        Self { unit: PositionUnit::Line, first, last }
    }

    /// Returns the span from the first to the last unit of both.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self {
            unit: self.unit,
            first: self.first.min(other.first),
            last: self.last.max(other.last),
        }
    }
}

impl fmt::Display for PositionSpan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.unit {
            PositionUnit::Line => "line",
            PositionUnit::Page => "page",
            PositionUnit::Paragraph => "paragraph",
        };
        if self.first == self.last {
            write!(f, "{unit} {}", self.first)
        } else {
            write!(f, "{unit}s {}-{}", self.first, self.last)
        }
    }
}

/// Converts a count, which is never so large that the limit matters.
pub(crate) fn saturating_count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
