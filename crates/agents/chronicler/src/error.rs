//! Defines the chronicler's errors.

use lango_retrieval::RetrievalError;
use lango_store::StoreError;
use lango_tool::ToolError;

use crate::gate::MemoryRefusal;

/// Says why something could not be remembered, recalled or forgotten.
#[derive(Debug, thiserror::Error)]
pub enum ChroniclerError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The index failed.
    #[error(transparent)]
    Retrieval(#[from] RetrievalError),
    /// The write gate refused it.
    #[error("not stored: {0}")]
    Refused(#[from] MemoryRefusal),
    /// No memory has this id.
    #[error("there is no memory {0:?}. See: lango memory list")]
    Unknown(String),
}

impl From<ChroniclerError> for ToolError {
    fn from(error: ChroniclerError) -> Self {
        match error {
            ChroniclerError::Refused(_) => Self::Forbidden(error.to_string()),
            ChroniclerError::Unknown(id) => {
                Self::Failed(format!("there is no memory {id:?}; memory_search finds ids"))
            }
            other => Self::Failed(other.to_string()),
        }
    }
}
