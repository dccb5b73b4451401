//! Reads files, directories and web pages, cuts them into passages, and stores them.
//!
//! [`Reader`] makes a [`Document`] of a file, [`passages`] cuts it, [`Ingest`] does that for whole
//! directories and puts the passages into the index, and [`retrieve`] finds them again, there and
//! through the graph.

mod confinement;
mod ingest;
mod passages;
mod read;
mod retrieve;
mod retrieve_tool;
mod tools;
mod walk;

pub use ingest::{
    DEFAULT_COLLECTION, Fetch, Ingest, IngestError, IngestProgress, IngestReport, SkippedSource,
    Source, SourceError, SourceNote, check_collection,
};
pub use passages::{Passage, passages};
pub use read::{
    Block, BlockKind, Content, Document, DocumentKind, READER_ARGUMENT, ReadLimits, Reader, Span,
    Unit, Unreadable, read_plain_text, run_reader_if_requested,
};
pub use retrieve::{DocumentSearch, PassageHit, PassageHits, retrieve};
pub(crate) use retrieve_tool::RetrievePassages;
pub use tools::document_tools;
pub use walk::{WalkStep, walk};
