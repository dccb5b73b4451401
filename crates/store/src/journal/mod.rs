//! Records the events of every session, append-only except for redactions (`redact.rs`).
//!
//! One process at a time holds a session by a lease; every append proves that it still does. Turns
//! that were accepted and wait are in a queue (`queue.rs`); those that run by themselves belong to a piece
//! of work (`work.rs`). The meaning of events and of queued
//! requests is left to their writers and readers.

mod active;
mod append;
mod approvals;
mod checksum;
mod claim;
mod clock;
mod lease;
mod owner;
mod queue;
mod read;
mod redact;
pub(crate) mod schema;
mod sessions;
mod work;
mod work_state;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Database, StoreError};
use clock::LeaseClock;

pub use append::{JournalAppend, StoredOutput};
pub use approvals::{AnswerOutcome, ApprovalAnswerRow, PendingApproval};
pub use claim::{ClaimError, SessionClaim};
pub use owner::{LeaseOwner, ProcessIdentity};
pub use queue::{PrecedingTurn, QueuePlace, QueuedTurn, TurnState};
pub use redact::{RedactedEvent, Redaction, RedactionReport};
pub use sessions::{SessionSummary, UnfinishedTurn};
pub use work::{WorkFilter, WorkItem, WorkScope};
pub use work_state::WorkState;

/// The journal of a database. Clones are cheap and share the connections.
#[derive(Clone)]
pub struct Journal {
    database: Database,
    clock: LeaseClock,
    /// The number of redactions in this process.
    redactions: Arc<AtomicU64>,
}

impl Journal {
    /// Opens the journal and brings its tables up to date.
    pub async fn open(database: Database) -> Result<Self, StoreError> {
        database.migrate(&schema::COMPONENT).await?;
        let clock = LeaseClock::of(database.dialect());
        Ok(Self { database, clock, redactions: Arc::default() })
    }

    /// Returns the number of redactions through this handle and its clones. A cache of events must
    /// be read again when it changes.
    pub fn redactions(&self) -> u64 {
        self.redactions.load(Ordering::Acquire)
    }

    fn count_redaction(&self) {
        self.redactions.fetch_add(1, Ordering::AcqRel);
    }

    /// Returns the error for a write that was not answered in time.
    pub fn silence_error(&self, waited: std::time::Duration) -> StoreError {
        StoreError::Unreachable {
            location: self.database.location().to_owned(),
            reason: format!("a change was not answered within {} s", waited.as_secs()),
        }
    }
}
