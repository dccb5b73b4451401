//! Provides the database: SQLite and PostgreSQL behind one handle, and the journal on top of it.
//!
//! Use this crate to keep something across a crash. [`Database`] runs statements that are written
//! once for both engines; [`Journal`] is the append-only record of every session. The meaning of
//! events and the control of turns belong to the runtime.

mod backup;
mod batch;
mod database;
mod error;
mod journal;
mod location;
mod migration;
mod postgres;
mod repair;
mod row;
mod sqlite;
#[cfg(feature = "testing")]
pub mod testing;
mod value;

pub use backup::{BackupEngine, BackupInfo, RestoreReport, restore_backup, verify_backup};
pub use batch::{Batch, Durability, Statement};
pub use database::{Database, DurabilityPolicy, SqlDialect};
pub use error::StoreError;
pub use journal::{
    AnswerOutcome, ApprovalAnswerRow, ClaimError, Journal, JournalAppend, LeaseOwner,
    PendingApproval, PrecedingTurn, ProcessIdentity, QueuePlace, QueuedTurn, RedactedEvent,
    Redaction, RedactionReport, SessionClaim, SessionSummary, StoredOutput, TurnState,
    UnfinishedTurn, WorkFilter, WorkItem, WorkScope, WorkState,
};
pub use location::DatabaseLocation;
pub use migration::{Migration, SchemaComponent};
pub use repair::{RepairReport, repair_database};
pub use row::{Row, RowView};
pub use value::SqlValue;

/// The parts of the schema that this crate owns.
pub const SCHEMA_COMPONENTS: &[SchemaComponent] =
    &[journal::schema::COMPONENT, postgres::COMPONENT];
