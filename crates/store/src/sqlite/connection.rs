//! Opens connections: files, permissions and common settings.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::failure;
use crate::StoreError;

/// Limits how long a statement waits for another process.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// More than the distinct statements of a process, so that none is prepared twice.
const MAX_PREPARED_STATEMENT_COUNT: usize = 128;

/// Opens the writing connection. Creates the file and its directory if they are missing.
pub(super) fn open_writer(path: &Path, location: &str) -> Result<Connection, StoreError> {
    let cannot_open = |error: io::Error| StoreError::Open {
        location: location.to_owned(),
        reason: error.to_string(),
    };
    create_private_directory(path).map_err(cannot_open)?;
    create_private_file(path).map_err(cannot_open)?;
    let connection = open(path, location)?;
    if connection.is_readonly("main").map_err(|error| failure::open_error(&error, location))? {
        return Err(StoreError::ReadOnly { location: location.to_owned() });
    }
    use_write_ahead_log(&connection, location)?;
    connection
        .execute_batch(
            "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; \
             PRAGMA wal_autocheckpoint = 0; PRAGMA secure_delete = ON;",
        )
        .map_err(|error| failure::open_error(&error, location))?;
    // From here on the writer decides when to wait for other processes, and when to checkpoint:
    // both would block a commit on the calling thread.
    connection
        .busy_timeout(Duration::ZERO)
        .map_err(|error| failure::open_error(&error, location))?;
    Ok(connection)
}

/// Opens a read-only connection.
pub(super) fn open_reader(path: &Path, location: &str) -> Result<Connection, StoreError> {
    let connection = open(path, location)?;
    connection
        .execute_batch("PRAGMA query_only = ON;")
        .map_err(|error| failure::open_error(&error, location))?;
    Ok(connection)
}

fn open(path: &Path, location: &str) -> Result<Connection, StoreError> {
    // No URI names: a path is literal, whatever characters it has. No mutex: each connection is
    // used by one thread at a time.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)
        .map_err(|error| failure::open_error(&error, location))?;
    connection.busy_timeout(BUSY_TIMEOUT).map_err(|error| failure::open_error(&error, location))?;
    connection.set_prepared_statement_cache_capacity(MAX_PREPARED_STATEMENT_COUNT);
    // Otherwise the planner inspects the bound values, to see whether a partial index fits, and
    // recompiles the statement for each of them.
    connection
        .set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)
        .map_err(|error| failure::open_error(&error, location))?;
    Ok(connection)
}

/// Enables the write-ahead log. SQLite does not wait for the lock when it changes the journal mode,
/// so two processes that create the same database at once need this loop.
fn use_write_ahead_log(connection: &Connection, location: &str) -> Result<(), StoreError> {
    let deadline = Instant::now() + BUSY_TIMEOUT;
    loop {
        let mode = connection
            .query_row("PRAGMA journal_mode = WAL", [], |row| row.get::<_, String>(0))
            .map_err(|error| failure::open_error(&error, location));
        match mode {
            Ok(mode) if mode.eq_ignore_ascii_case("wal") => return Ok(()),
            Ok(mode) => {
                return Err(StoreError::Open {
                    location: location.to_owned(),
                    reason: format!(
                        "this file system does not allow the write-ahead log (mode {mode})"
                    ),
                });
            }
            Err(StoreError::Busy { .. }) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(error) => return Err(error),
        }
    }
}

fn create_private_directory(path: &Path) -> io::Result<()> {
    let Some(directory) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) else {
        return Ok(());
    };
    if directory.is_dir() {
        return Ok(());
    }
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(directory)
}

/// Creates the file before SQLite does, to set its permissions; SQLite uses the same ones for the
/// files next to it. An existing file is not opened: closing it again would drop the locks that
/// another connection of this process holds on it.
fn create_private_file(path: &Path) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    match options.open(path) {
        Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}
