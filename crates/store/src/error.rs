//! Defines the errors of the store, grouped by who can act on them.

use std::fmt;

use crate::journal::LeaseOwner;

/// Stands for the holder of a lock that is not known.
pub(crate) const UNKNOWN_HOLDER: &str = "another process";

/// Describes why an operation failed. Each message names the cause and the next step.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// For the user: the address of the database cannot be parsed.
    #[error(
        "{given:?} is not a database: use a path, sqlite:PATH or postgres://user@host/database"
    )]
    Location {
        /// The given text, without anything that could be a password.
        given: String,
    },
    /// For the user: the database cannot be opened or created.
    #[error(
        "cannot open the database {location}: {reason}. \
         Check that you may write there, or set LANGO_HOME to another directory"
    )]
    Open {
        /// The database.
        location: String,
        /// The system's message.
        reason: String,
    },
    /// For the user: the database can be read but not written.
    #[error(
        "the database {location} is read-only. \
         Check the permissions of the file and its directory, or set LANGO_HOME to another one"
    )]
    ReadOnly {
        /// The database.
        location: String,
    },
    /// For the user: the program is older than the database.
    #[error(
        "this database was written by a newer lango ({component} is at version {found}, this \
         program knows {known}). Upgrade lango, or set LANGO_HOME to another directory"
    )]
    NewerSchema {
        /// The part of the schema.
        component: String,
        /// The version in the database.
        found: u32,
        /// The latest version that this program supports.
        known: u32,
    },
    /// For the user: acknowledged changes are missing, because a file was damaged or deleted.
    #[error(
        "the database {location} lacks changes that were acknowledged: {reason}. Restore a backup: \
         lango backup restore FILE. To go on with what is left: lango doctor --repair"
    )]
    Lost {
        /// The database.
        location: String,
        /// What was expected and what was found.
        reason: String,
    },
    /// For the operator of the machine: the files were deleted or replaced while they were open.
    #[error(
        "the database {location} is not the one that this process opened: {reason}. What is written \
         now would be lost. End this process, put the file back or restore a backup: \
         lango backup restore FILE"
    )]
    Replaced {
        /// The database.
        location: String,
        /// The file, and what happened to it.
        reason: String,
    },
    /// For the user: a backup cannot be written or read.
    #[error(
        "the backup {file} cannot be used: {reason}. To check a backup: lango backup verify FILE"
    )]
    Backup {
        /// The file.
        file: String,
        /// The cause.
        reason: String,
    },
    /// For the user: there is a database where a backup would be restored.
    #[error(
        "there is a database already: {location}. To put it aside and restore the backup: \
         lango backup restore FILE --force"
    )]
    NotEmpty {
        /// The database.
        location: String,
    },
    /// For the user: the database cannot be replaced while processes use it.
    #[error("another process has the database {location} open. End it first, such as lango serve")]
    InUse {
        /// The database.
        location: String,
    },
    /// For the operator of the machine: only the tools of PostgreSQL repair its files.
    #[error(
        "{location} cannot be repaired from here: use the tools of PostgreSQL, or restore a backup: \
         lango backup restore FILE --force"
    )]
    NoRepair {
        /// The database.
        location: String,
    },
    /// A retry may help: another process holds the lock.
    #[error(
        "the database {location} is locked by {holder}. \
         Try again; if it stays locked, end the process that has the database open"
    )]
    Busy {
        /// The database.
        location: String,
        /// The process, as far as it is known.
        holder: String,
    },
    /// For the operator of the machine: the disk is full.
    #[error("no space left for the database {location}. Free some disk space and try again")]
    Full {
        /// The database.
        location: String,
    },
    /// For the operator of the machine: the disk failed.
    #[error("the disk under the database {location} failed: {reason}. Check the disk")]
    Disk {
        /// The database.
        location: String,
        /// The system's message.
        reason: String,
    },
    /// For the caller: another writer was first. Nothing of the batch was written.
    #[error("the change was refused because of another one: {reason}")]
    Conflict {
        /// The expectation that failed.
        reason: String,
    },
    /// For the operator of the machine: the file is not a database, or is damaged.
    #[error(
        "the database {location} is damaged or is not a lango database: {reason}. \
         To see what is damaged: lango doctor --deep. To repair it: lango doctor --repair. To restore \
         a backup: lango backup restore FILE"
    )]
    Corrupt {
        /// The database.
        location: String,
        /// The cause.
        reason: String,
    },
    /// For the operator of the machine: PostgreSQL does not answer. Nothing was written.
    #[error("cannot reach {location}: {reason}. Check that the server runs and accepts you")]
    Unreachable {
        /// The database.
        location: String,
        /// The message of the network or the server.
        reason: String,
    },
    /// For the caller: the connection broke during the commit, so both outcomes are possible.
    #[error(
        "the connection to {location} broke while a change was committed ({reason}); \
         it is not known whether the change was kept. Read it back before you repeat it"
    )]
    OutcomeUnknown {
        /// The database.
        location: String,
        /// The message of the network.
        reason: String,
    },
    /// For the user: a session is in use.
    #[error("session {session} is in use by {owner}. Stop that process first")]
    SessionInUse {
        /// The session.
        session: String,
        /// The process that uses it.
        owner: LeaseOwner,
    },
    /// For the user: this process was silent for longer than its lease, and another one took over.
    #[error(
        "another process took over session {session}, because this one was stopped or cut off from \
         the database for longer than 30 seconds. Nothing more was done here. See what was done \
         with `lango sessions show {session}`"
    )]
    SessionLost {
        /// The session.
        session: String,
    },
    /// For the caller: the batch was cancelled. Nothing of it was written.
    #[error("the change was cancelled before it was written")]
    Cancelled,
    /// For the caller: the handle was closed.
    #[error("the database was already closed")]
    Closed,
    /// A bug in this program.
    #[error("a database query failed: {reason}. This is a bug in lango; please report it")]
    Query {
        /// The database's message.
        reason: String,
    },
}

impl StoreError {
    /// Creates the error of a lock whose holder is not known.
    pub(crate) fn busy(location: &str) -> Self {
        let (location, holder) = (location.to_owned(), UNKNOWN_HOLDER.to_owned());
        Self::Busy { location, holder }
    }

    /// Tells whether the database itself failed, and not a caller's expectation.
    pub fn concerns_operator(&self) -> bool {
        !matches!(
            self,
            Self::Conflict { .. } | Self::Cancelled | Self::Closed | Self::SessionInUse { .. }
        )
    }

    pub(crate) fn query(reason: &(impl fmt::Display + ?Sized)) -> Self {
        Self::Query { reason: reason.to_string() }
    }
}
