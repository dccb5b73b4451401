//! Documents: files, directories and web pages, read, cut into passages, and kept.

mod passages;
mod read;

pub use passages::{Passage, passages};
pub use read::{
    Block, BlockKind, Content, Document, DocumentKind, READER_ARGUMENT, ReadLimits, Reader, Span,
    Unit, Unreadable, reader_requested,
};
