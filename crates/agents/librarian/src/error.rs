//! Why the librarian could not do what it was asked, by who can act on it.

use lango_retrieval::RetrievalError;
use lango_store::StoreError;
use lango_tool::ToolError;

/// A failure of one of the librarian's stores.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LibrarianError {
    /// The caller: a text cannot be stored as what it was meant to be.
    #[error("{what} {why}")]
    Text {
        /// Which one.
        what: &'static str,
        /// What is wrong with it.
        why: String,
    },
    /// The caller: a question that names nothing.
    #[error("name at least one of subject, predicate and object")]
    NothingAsked,
    /// The caller: the graph does not know such a node.
    #[error("there is no node {name:?} in the graph{near}")]
    NoNode {
        /// What was asked for.
        name: String,
        /// Nodes of similar names, as a part of the sentence.
        near: String,
    },
    /// The caller: nothing can end before it began.
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
        /// What was asked for.
        id: String,
    },
    /// The caller: the question is not open any more.
    #[error("inquiry {id} is {state} already")]
    InquiryClosed {
        /// Which.
        id: String,
        /// How it stands.
        state: String,
    },
    /// The caller: the name is taken.
    #[error("there is a skill {name} already; choose another name. See: lango skills list")]
    SkillExists {
        /// The name.
        name: String,
    },
    /// The user: no such skill waits.
    #[error("no skill {name:?} waits for approval. See: lango skills list")]
    NoDraft {
        /// The name.
        name: String,
    },
    /// The operator of the machine: files.
    #[error("{what}: {reason}")]
    Files {
        /// What did not work.
        what: String,
        /// What the system said.
        reason: String,
    },
    /// The index.
    #[error("{0}")]
    Retrieval(String),
    /// Nobody: the turn was stopped.
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
