//! Defines the errors of this crate.

use lango_store::StoreError;

use crate::EmbedError;

/// Says why an entry could not be stored or found.
#[derive(Debug, thiserror::Error)]
pub enum RetrievalError {
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The embedding model.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// A search by meaning where there is no model for it.
    #[error(
        "there is no embedding model, so nothing can be found by meaning. Search by words, or set \
         embedding.provider with `lango config set embedding.provider local`"
    )]
    NoEmbedder,
    /// No action needed: the caller cancelled it, and nothing was written.
    #[error("it was cancelled before it was written")]
    Cancelled,
}
