//! Maps SQLite's errors to the errors of the store.

use rusqlite::{Error, ErrorCode, ffi};

use crate::StoreError;

/// Maps the error of a statement.
pub(super) fn statement_error(error: &Error, location: &str) -> StoreError {
    let location = location.to_owned();
    let Some(cause) = find_sqlite_error(error) else { return StoreError::query(error) };
    match cause.code {
        ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => StoreError::busy(&location),
        ErrorCode::DiskFull => StoreError::Full { location },
        ErrorCode::ReadOnly | ErrorCode::PermissionDenied => StoreError::ReadOnly { location },
        ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => {
            StoreError::Corrupt { location, reason: error.to_string() }
        }
        ErrorCode::CannotOpen => StoreError::Open { location, reason: error.to_string() },
        // The index of the log grows before the log, so a full disk can show up there.
        ErrorCode::SystemIoFailure if cause.extended_code == ffi::SQLITE_IOERR_SHMSIZE => {
            StoreError::Full { location }
        }
        ErrorCode::SystemIoFailure => StoreError::Disk { location, reason: error.to_string() },
        ErrorCode::ConstraintViolation
            if matches!(
                cause.extended_code,
                ffi::SQLITE_CONSTRAINT_PRIMARYKEY | ffi::SQLITE_CONSTRAINT_UNIQUE
            ) =>
        {
            StoreError::Conflict { reason: error.to_string() }
        }
        _ => StoreError::query(error),
    }
}

/// Maps an error while a connection is opened. Unknown errors are blamed on the file and not on the
/// program.
pub(super) fn open_error(error: &Error, location: &str) -> StoreError {
    match statement_error(error, location) {
        StoreError::Query { reason } => StoreError::Open { location: location.to_owned(), reason },
        other => other,
    }
}

/// Tells whether the statement does not fit this schema, for example because a table does not exist
/// yet.
pub(super) fn is_schema_mismatch(error: &Error) -> bool {
    find_sqlite_error(error).is_some_and(|cause| cause.extended_code == ffi::SQLITE_ERROR)
}

/// Tells whether a statement was interrupted before its end.
pub(super) fn is_interrupt(error: &Error) -> bool {
    find_sqlite_error(error).is_some_and(|cause| cause.code == ErrorCode::OperationInterrupted)
}

fn find_sqlite_error(error: &Error) -> Option<&ffi::Error> {
    match error {
        Error::SqlInputError { error, .. } => Some(error),
        _ => error.sqlite_error(),
    }
}
