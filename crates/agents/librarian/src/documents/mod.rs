//! Reads files, directories and web pages, cuts them into passages, and stores them.
//!
//! [`DocumentReader`] reads a file and cuts it into passages, [`Ingester`] does that for whole
//! directories and puts the passages into the index, and [`retrieve_passages`] finds
//! them again, there and through the graph.

mod confinement;
mod ingest;
mod passages;
mod read;
mod retrieve;
mod retrieve_tool;
mod tools;
mod walk;

pub use ingest::{
    DEFAULT_COLLECTION, IngestError, IngestProgress, IngestReport, IngestSource, Ingester,
    PageFetcher, SkippedSource, SourceError, SourceNote, check_collection,
};
pub use passages::{Passage, cut_into_passages};
pub use read::{
    BlockKind, CutDocument, Document, DocumentBlock, DocumentKind, DocumentReader, FileContent,
    MAX_PASSAGE_COUNT, PositionSpan, PositionUnit, READER_ARGUMENT, ReadLimits, UnreadableReason,
    read_plain_text, run_reader_if_requested,
};
pub use retrieve::{DocumentSearch, PassageHit, PassageHits, retrieve_passages};
pub(crate) use retrieve_tool::RetrievePassages;
pub use tools::build_document_tools;
pub use walk::{WalkStep, walk_files};
