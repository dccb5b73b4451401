//! Reads a file or a page into a [`Document`]: its format, its text, and the position of each part.
//!
//! Nothing is stored here. Failures are [`UnreadableReason`] with a reason.

mod code;
mod decode;
pub(crate) mod document;
mod docx;
mod helper;
mod html;
mod kind;
mod markdown;
mod pdf;
mod reader;
mod text;
mod unreadable;

pub use document::{BlockKind, Document, DocumentBlock, DocumentKind, PositionSpan, PositionUnit};
pub use helper::{READER_ARGUMENT, run_reader_if_requested};
pub use reader::{
    CutDocument, DocumentReader, FileContent, MAX_PASSAGE_COUNT, ReadLimits, read_plain_text,
};
pub use unreadable::UnreadableReason;

#[cfg(test)]
pub(crate) use reader::read_text;
