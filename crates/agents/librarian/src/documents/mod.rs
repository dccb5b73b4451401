//! Documents: files, directories and web pages, read, cut into passages, and kept.
//!
//! [`Reader`] makes a [`Document`] of a file, [`passages`] cuts it, [`Ingest`] does that for whole
//! directories and puts the passages into the index. Finding them again belongs to `lango-retrieval`.

mod confinement;
mod ingest;
mod passages;
mod read;
mod tools;
mod walk;

pub use ingest::{
    DEFAULT_COLLECTION, Fetch, Ingest, IngestError, Note, Progress, Report, Skipped, Source,
    SourceError, check_collection,
};
pub use passages::{Passage, passages};
pub use read::plain;
pub use read::{
    Block, BlockKind, Content, Document, DocumentKind, READER_ARGUMENT, ReadLimits, Reader, Span,
    Unit, Unreadable, reader_requested,
};
pub use tools::{Library, register};
pub use walk::{Step, walk};
