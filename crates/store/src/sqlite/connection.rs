//! Opens connections: files, permissions and common settings.

use std::fs::{DirBuilder, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use super::commit_record::{CommitRecord, CommitRecordFile};
use super::failure;
use crate::StoreError;

/// Limits how long a statement waits for another process.
pub(super) const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// More than the distinct statements of a process, so that none is prepared twice.
const MAX_PREPARED_STATEMENT_COUNT: usize = 128;

/// The bytes of the log that are kept when it is written from its beginning again: most of it, because
/// a sync is cheaper if the file does not grow, but less than a log has that is moved into the database.
pub(super) const KEPT_LOG_BYTES: u32 = 3 * 1024 * 1024;

const READ_COMMITS: &str = "SELECT identity, commits FROM store_commits";

/// Counts an acknowledged commit.
pub(super) const COUNT_COMMIT: &str =
    "UPDATE store_commits SET commits = commits + 1 RETURNING commits";

const CREATE_COMMITS: &str = "CREATE TABLE IF NOT EXISTS store_commits (\
     id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1), identity TEXT NOT NULL, \
     commits BIGINT NOT NULL)";

/// Opens the writing connection. Creates the file and its directory if they are missing. Returns an
/// error if the database lacks something that was acknowledged.
pub(super) fn open_writer(
    path: &Path,
    location: &str,
) -> Result<(Connection, CommitRecordFile), StoreError> {
    // Read before the database: another process may be at work, and the file is never ahead.
    let record = CommitRecord::read(&resolve(path)).filter(|record| record.expected_commits() > 0);
    if let Some(record) = &record
        && !path.exists()
    {
        // SQLite would remove the log beside an empty database.
        let reason = format!("the file is gone, and had {} of them", record.expected_commits());
        return Err(StoreError::Lost { location: location.to_owned(), reason });
    }
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
        .execute_batch(&format!(
            "PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON; \
                 PRAGMA wal_autocheckpoint = 0; PRAGMA secure_delete = ON; \
                 PRAGMA journal_size_limit = {KEPT_LOG_BYTES};"
        ))
        .map_err(|error| failure::open_error(&error, location))?;
    let file = compare_commits(&connection, &resolve(path), record.as_ref(), location)?;
    // From here on the writer decides when to wait for other processes, and when to checkpoint:
    // both would block a commit on the calling thread.
    connection
        .busy_timeout(Duration::ZERO)
        .map_err(|error| failure::open_error(&error, location))?;
    Ok((connection, file))
}

/// Compares the count in the database with the record beside it, and creates what is missing.
fn compare_commits(
    connection: &Connection,
    path: &Path,
    record: Option<&CommitRecord>,
    location: &str,
) -> Result<CommitRecordFile, StoreError> {
    let failed = |error: rusqlite::Error| failure::open_error(&error, location);
    let read = || {
        connection.query_row(READ_COMMITS, [], |row| {
            let commits = row.get::<_, i64>(1)?;
            Ok((row.get::<_, String>(0)?, u64::try_from(commits).unwrap_or(0)))
        })
    };
    let counted = match read() {
        Ok(counted) => Some(counted),
        Err(rusqlite::Error::QueryReturnedNoRows) => None,
        Err(error) if failure::is_schema_mismatch(&error) => None,
        Err(error) => return Err(failed(error)),
    };
    if let Some(record) = record {
        let expected = record.expected_commits();
        let lost = match &counted {
            None => Some(format!("it is empty, and had {expected} of them")),
            Some((identity, _)) if *identity != record.identity => {
                Some("it is not the database that was here before".to_owned())
            }
            Some((_, commits)) if *commits < expected => {
                Some(format!("it has {commits} of {expected}; its log was cut, damaged or deleted"))
            }
            Some(_) => None,
        };
        if let Some(reason) = lost {
            // What is left of the log is evidence, and may be all there is.
            connection
                .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
                .map_err(failed)?;
            return Err(StoreError::Lost { location: location.to_owned(), reason });
        }
    }
    let (identity, commits) = if let Some(counted) = counted {
        counted
    } else {
        let insert = "INSERT INTO store_commits (id, identity, commits) VALUES (1, $1, 0) \
                      ON CONFLICT (id) DO NOTHING";
        connection.execute_batch("BEGIN IMMEDIATE").map_err(failed)?;
        connection.execute_batch(CREATE_COMMITS).map_err(failed)?;
        let identity = uuid::Uuid::new_v4().simple().to_string();
        connection.execute(insert, [&identity]).map_err(failed)?;
        connection.execute_batch("COMMIT").map_err(failed)?;
        read().map_err(failed)?
    };
    Ok(CommitRecordFile::new(path, identity, commits))
}

/// Returns the path of a file that SQLite or this program keeps beside a database.
pub(super) fn beside(database: &Path, suffix: &str) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// Returns the path without links, as SQLite uses it for the files beside the database.
pub(super) fn resolve(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
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

pub(super) fn create_private_directory(path: &Path) -> io::Result<()> {
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
