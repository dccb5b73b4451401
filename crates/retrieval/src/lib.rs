//! Finding texts by words and by meaning.
//!
//! Whoever keeps texts (documents, knowledge, lessons, memories) puts them in here as *entries* cut
//! into *passages*, and [`Retrieval::search`] finds them: by their words (a full-text index of the
//! database), by their meaning (vectors of an [`Embedder`]), or by both, fused by rank. Words,
//! vectors and texts are written in one transaction, so they cannot disagree.
//!
//! What a text means to an agent, how a file becomes passages, and who may ask for what is not
//! decided here. Spaces keep the owners apart: a search names one and never leaves it.

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
    EmbedError, EmbedFuture, Embedder, EmbeddingModel, LocalEmbedder, Purpose, RemoteEmbedder,
    RemoteWire,
};
pub use entry::{EntryKey, EntrySummary, NewEntry, NewPassage, Put, Space};
pub use error::RetrievalError;
pub use evaluation::{Collection, CollectionError, CorpusDocument, Measures, Question, measure};
pub use index::{Found, Hit, Mode, PreparedEntry, Problem, Retrieval, Search, SpaceSize};
