//! The errors of measurements, grouped by who can act on them.

use std::io;

use lango_model::ModelError;
use lango_retrieval::{CollectionError, RetrievalError};
use lango_store::StoreError;

/// A measurement that could not be made.
#[derive(Debug, thiserror::Error)]
pub enum EvalError {
    /// The user: requests that cannot be read.
    #[error("{0}")]
    Requests(String),
    /// The user: a collection that cannot be read.
    #[error(transparent)]
    Collection(#[from] CollectionError),
    /// The provider of the model.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The provider of embeddings.
    #[error("{0}")]
    Embedding(String),
    /// The index.
    #[error(transparent)]
    Retrieval(#[from] RetrievalError),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The operator of the machine: files.
    #[error(transparent)]
    Io(#[from] io::Error),
}
