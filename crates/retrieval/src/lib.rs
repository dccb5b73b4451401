//! Finds texts by words and by meaning.
//!
//! Agents that store texts (documents, knowledge, lessons, memories) put them in here as *entries*
//! cut into *passages*, and [`Retrieval::search`] finds them: by their words (a full-text index of
//! the database), by their meaning (vectors of an [`Embedder`]), or by both, fused by rank. Words,
//! vectors and texts are written in one transaction, so they cannot disagree.
//!
//! This crate does not decide what a text means to an agent, how a file becomes passages, or who
//! may search what. Spaces keep the owners apart: a search names one and never leaves it.

mod embed;
mod entry;
mod error;
mod evaluation;
mod fusion;
mod ids;
mod index;
mod query;
mod vector;

pub use embed::{
    EmbedError, EmbedFuture, Embedder, EmbeddingModel, EmbeddingPurpose, LocalEmbedder,
    RemoteEmbedder, RemoteWire,
};
pub use entry::{EntryKey, EntryKind, EntrySummary, NewEntry, NewPassage, PutOutcome};
pub use error::RetrievalError;
pub use evaluation::{
    CollectionError, CorpusDocument, LabelledQuestion, QuestionCollection, RankingQuality,
    measure_rankings,
};
pub use index::{
    CollectionSize, IndexProblem, PreparedEntry, Retrieval, RetrievalIndex, RetrievalMode,
    SearchHit, SearchHits, SearchQuery,
};

/// The parts of the database's schema that this crate owns.
pub const SCHEMA_COMPONENTS: &[lango_store::SchemaComponent] = &[index::COMPONENT];
