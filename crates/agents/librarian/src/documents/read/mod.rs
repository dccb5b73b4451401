//! From a file or a page to a [`Document`]: what it is, its text, and where each part stands.
//!
//! Nothing is cut here and nothing is stored. What cannot be read has a reason.

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

pub use document::{Block, BlockKind, Document, DocumentKind, Span, Unit};
pub use helper::{READER_ARGUMENT, reader_requested};
pub use reader::{Content, ReadLimits, Reader, plain};
pub use unreadable::Unreadable;

#[cfg(test)]
pub(crate) use reader::read_text;
