//! The journal: what happened in every session, written once and never changed, unless a
//! person wants something forgotten (`redact.rs`).
//!
//! One process at a time holds a session by a lease; every append proves that it still does.
//! What the events mean is the business of those who write and read them.

mod append;
mod approvals;
mod claim;
mod lease;
mod owner;
mod read;
mod redact;
mod schema;
mod sessions;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Database, StoreError};

pub use append::{Append, StoredOutput};
pub use approvals::{Answer, AnswerOutcome, PendingApproval};
pub use claim::{Claim, ClaimError};
pub use owner::{Owner, ProcessIdentity};
pub use redact::{Redacted, Redaction};
pub use sessions::{SessionSummary, UnfinishedTurn};

/// The journal of a database. Clones are cheap and share the connections.
#[derive(Clone)]
pub struct Journal {
    database: Database,
    /// How often something was taken out, in this process.
    redactions: Arc<AtomicU64>,
}

impl Journal {
    /// Takes a database and brings the journal's tables up to date.
    pub async fn open(database: Database) -> Result<Self, StoreError> {
        database.migrate(&schema::COMPONENT).await?;
        Ok(Self { database, redactions: Arc::default() })
    }

    /// How often words were taken out of events through this handle and its clones. Whoever keeps
    /// what was read reads it again when this changed.
    pub fn redactions(&self) -> u64 {
        self.redactions.load(Ordering::Acquire)
    }

    fn count_redaction(&self) {
        self.redactions.fetch_add(1, Ordering::AcqRel);
    }
}
