//! The journal: what happened in every session, written once and never changed.
//!
//! One process at a time holds a session by a lease; every append proves that it still does.
//! What the events mean is the business of those who write and read them.

mod append;
mod approvals;
mod claim;
mod lease;
mod owner;
mod read;
mod schema;
mod sessions;

use crate::{Database, StoreError};

pub use append::{Append, StoredOutput};
pub use approvals::{Answer, AnswerOutcome, PendingApproval};
pub use claim::{Claim, ClaimError};
pub use owner::{Owner, ProcessIdentity};
pub use sessions::{SessionSummary, UnfinishedTurn};

/// The journal of a database. Clones are cheap and share the connections.
#[derive(Clone)]
pub struct Journal {
    database: Database,
}

impl Journal {
    /// Takes a database and brings the journal's tables up to date.
    pub async fn open(database: Database) -> Result<Self, StoreError> {
        database.migrate(&schema::COMPONENT).await?;
        Ok(Self { database })
    }
}
