//! Everything that can go wrong between the program and its database, by who can act on it.

use std::fmt;

use crate::journal::Owner;

/// Why the store could not do what it was asked. Each message names the cause and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The user: the address of the database cannot be read.
    #[error(
        "{given:?} is not a database: use a path, sqlite:PATH or postgres://user@host/database"
    )]
    Location {
        /// What was given, without anything that could be a password.
        given: String,
    },
    /// The user: the database cannot be opened or created.
    #[error(
        "cannot open the database {location}: {reason}. \
         Check that you may write there, or set LANGO_HOME to another directory"
    )]
    Open {
        /// Which database.
        location: String,
        /// What the system said.
        reason: String,
    },
    /// The user: the database can be read but not written.
    #[error(
        "the database {location} is read-only. \
         Check the permissions of the file and its directory, or set LANGO_HOME to another one"
    )]
    ReadOnly {
        /// Which database.
        location: String,
    },
    /// The user: an older program met a newer database.
    #[error(
        "this database was written by a newer lango ({component} is at version {found}, this \
         program knows {known}). Upgrade lango, or set LANGO_HOME to another directory"
    )]
    NewerSchema {
        /// The part of the schema.
        component: String,
        /// The version in the database.
        found: u32,
        /// The latest version this program knows.
        known: u32,
    },
    /// A retry: another process holds the lock.
    #[error(
        "the database {location} is locked by another process. \
         Try again; if it stays locked, find the process that has the database open"
    )]
    Busy {
        /// Which database.
        location: String,
    },
    /// The operator: no space left.
    #[error("no space left for the database {location}. Free some disk space and try again")]
    Full {
        /// Which database.
        location: String,
    },
    /// The operator: the disk failed.
    #[error("the disk under the database {location} failed: {reason}. Check the disk")]
    Disk {
        /// Which database.
        location: String,
        /// What the system said.
        reason: String,
    },
    /// The caller: somebody else was first. Nothing of the batch was written.
    #[error("the change was refused because of another one: {reason}")]
    Conflict {
        /// Which expectation did not hold.
        reason: String,
    },
    /// The operator: the file is not a database, or is damaged.
    #[error(
        "the database {location} is damaged or is not a lango database: {reason}. \
         Restore it from a backup, or move it away and start with a new one"
    )]
    Corrupt {
        /// Which database.
        location: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The operator: PostgreSQL does not answer. Nothing was written.
    #[error("cannot reach {location}: {reason}. Check that the server runs and accepts you")]
    Unreachable {
        /// Which database.
        location: String,
        /// What the network or the server said.
        reason: String,
    },
    /// The caller: the connection broke during the commit, so both outcomes are possible.
    #[error(
        "the connection to {location} broke while a change was committed ({reason}); \
         it is not known whether the change was kept. Read it back before you repeat it"
    )]
    OutcomeUnknown {
        /// Which database.
        location: String,
        /// What the network said.
        reason: String,
    },
    /// The user: a session is in use.
    #[error("session {session} is in use by {owner}. Stop that process first")]
    Held {
        /// The session.
        session: String,
        /// Who uses it.
        owner: Owner,
    },
    /// The caller: the handle was closed.
    #[error("the database was already closed")]
    Closed,
    /// Nobody: a bug in this program.
    #[error("a database query failed: {reason}. This is a bug in lango; please report it")]
    Query {
        /// What the database said.
        reason: String,
    },
}

impl StoreError {
    pub(crate) fn query(reason: &(impl fmt::Display + ?Sized)) -> Self {
        Self::Query { reason: reason.to_string() }
    }
}
