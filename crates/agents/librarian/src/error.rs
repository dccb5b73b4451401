//! Defines the librarian's errors, by who can act on them.

use lango_retrieval::RetrievalError;
use lango_store::StoreError;
use lango_tool::ToolError;

/// Represents a failure of one of the librarian's stores.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LibrarianError {
    /// The caller: a text does not fit its purpose.
    #[error("{what} {why}")]
    Text {
        /// The name of the text.
        what: &'static str,
        /// The defect.
        why: String,
    },
    /// The caller: a query without any name.
    #[error("name at least one of subject, predicate and object")]
    NothingAsked,
    /// The caller: the graph has no such node.
    #[error("there is no node {name:?} in the graph{near}")]
    NoNode {
        /// The requested name or id.
        name: String,
        /// Nodes of similar names, as a part of the sentence.
        near: String,
    },
    /// The caller: a relation cannot end before it began.
    #[error("the relation began at {began}, so it cannot end at {ended}")]
    EndsBeforeItBegan {
        /// The beginning.
        began: String,
        /// The end that was given.
        ended: String,
    },
    /// The caller: there is no such question.
    #[error("there is no inquiry {id:?}; librarian_pending_inquiries lists the open ones")]
    NoInquiry {
        /// The requested name or id.
        id: String,
    },
    /// The caller: the question is not open any more.
    #[error("inquiry {id} is {state} already")]
    InquiryClosed {
        /// The inquiry's id.
        id: String,
        /// The inquiry's state.
        state: String,
    },
    /// The caller: a skill of that name exists already.
    #[error("there is a skill {name} already; choose another name. See: lango skills list")]
    SkillExists {
        /// The name.
        name: String,
    },
    /// The user: no such draft exists.
    #[error("no skill {name:?} waits for approval. See: lango skills list")]
    NoDraft {
        /// The name.
        name: String,
    },
    /// The operator of the machine: a file operation failed.
    #[error("{what}: {reason}")]
    Files {
        /// The operation that failed.
        what: String,
        /// The system's error.
        reason: String,
    },
    /// The index.
    #[error("{0}")]
    Retrieval(String),
    /// No action needed: the turn was cancelled.
    #[error("stopped because the turn was cancelled")]
    Cancelled,
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<RetrievalError> for LibrarianError {
    fn from(error: RetrievalError) -> Self {
        match error {
            RetrievalError::Store(error) => Self::Store(error),
            error => Self::Retrieval(error.to_string()),
        }
    }
}

impl From<LibrarianError> for ToolError {
    fn from(error: LibrarianError) -> Self {
        match error {
            LibrarianError::Text { .. } | LibrarianError::NothingAsked => {
                Self::Arguments(error.to_string())
            }
            LibrarianError::Cancelled => Self::Cancelled,
            _ => Self::Failed(error.to_string()),
        }
    }
}
