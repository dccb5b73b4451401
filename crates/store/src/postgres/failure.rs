//! Classifies PostgreSQL's errors, and which of them leave nothing behind.

use std::error::Error as _;
use std::io;
use std::time::Duration;

use deadpool_postgres::PoolError;
use tokio_postgres::Error;
use tokio_postgres::error::SqlState;

use crate::StoreError;

/// A failed attempt.
pub(super) enum FailedAttempt {
    /// The connection failed and nothing was committed: a retry is safe.
    Connection(String),
    /// The connection broke during the commit.
    Commit(String),
    /// The server refused the statement.
    Refused(Error),
    /// An error that is already in its final form.
    Final(StoreError),
}

impl FailedAttempt {
    pub(super) fn during_commit(error: Error) -> Self {
        Self::from(error).into_unknown_outcome()
    }

    /// Returns the failure of a server that said nothing.
    pub(super) fn silent(limit: Duration) -> Self {
        Self::Connection(format!("no answer within {} s", limit.as_secs()))
    }

    /// Returns the failure of a commit that was sent.
    pub(super) fn into_unknown_outcome(self) -> Self {
        match self {
            Self::Connection(reason) => Self::Commit(reason),
            other => other,
        }
    }

    pub(super) fn may_be_repeated(&self) -> bool {
        matches!(self, Self::Connection(_) | Self::Commit(_))
    }

    /// Tells whether a connection may be in the middle of something that was given up.
    pub(super) fn leaves_connection_unusable(&self) -> bool {
        matches!(self, Self::Connection(_) | Self::Commit(_))
    }

    pub(super) fn into_error(self, location: &str) -> StoreError {
        let location = location.to_owned();
        match self {
            Self::Connection(reason) => StoreError::Unreachable { location, reason },
            Self::Commit(reason) => StoreError::OutcomeUnknown { location, reason },
            Self::Refused(error) => connection_error(&error, location),
            Self::Final(error) => error,
        }
    }
}

impl From<Error> for FailedAttempt {
    fn from(error: Error) -> Self {
        let broken = match error.code() {
            Some(code) => is_connection_state(code),
            None => {
                error.is_closed()
                    || error.source().is_some_and(<dyn std::error::Error>::is::<io::Error>)
            }
        };
        if broken { Self::Connection(describe_with_cause(&error)) } else { Self::Refused(error) }
    }
}

impl From<PoolError> for FailedAttempt {
    fn from(error: PoolError) -> Self {
        match error {
            PoolError::Backend(error) => error.into(),
            PoolError::Closed => Self::Final(StoreError::Closed),
            other => Self::Connection(other.to_string()),
        }
    }
}

/// Tells whether the server ends or refuses connections in this state, whatever the statement.
fn is_connection_state(code: &SqlState) -> bool {
    *code == SqlState::ADMIN_SHUTDOWN
        || *code == SqlState::CRASH_SHUTDOWN
        || *code == SqlState::CANNOT_CONNECT_NOW
        || *code == SqlState::TOO_MANY_CONNECTIONS
        || code.code().starts_with("08")
}

fn connection_error(error: &Error, location: String) -> StoreError {
    let reason = describe_with_cause(error);
    let Some(code) = error.code() else { return StoreError::Query { reason } };
    match *code {
        SqlState::UNIQUE_VIOLATION | SqlState::T_R_SERIALIZATION_FAILURE => {
            StoreError::Conflict { reason }
        }
        SqlState::T_R_DEADLOCK_DETECTED
        | SqlState::LOCK_NOT_AVAILABLE
        | SqlState::QUERY_CANCELED => StoreError::busy(&location),
        SqlState::DISK_FULL => StoreError::Full { location },
        SqlState::IO_ERROR => StoreError::Disk { location, reason },
        SqlState::READ_ONLY_SQL_TRANSACTION => StoreError::Open {
            location,
            reason: "the server allows no changes (a standby, or default_transaction_read_only)"
                .into(),
        },
        SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => {
            StoreError::Corrupt { location, reason }
        }
        SqlState::INVALID_CATALOG_NAME
        | SqlState::INVALID_PASSWORD
        | SqlState::INVALID_AUTHORIZATION_SPECIFICATION
        | SqlState::INSUFFICIENT_PRIVILEGE => StoreError::Unreachable { location, reason },
        _ => StoreError::Query { reason },
    }
}

/// Returns the message with its cause, which the driver's own text omits.
pub(super) fn describe_with_cause(error: &Error) -> String {
    match error.as_db_error() {
        Some(database) => database.message().to_owned(),
        None => match error.source() {
            Some(cause) => format!("{error}: {cause}"),
            None => error.to_string(),
        },
    }
}
