//! Implements what the writer does with its connection: transactions, migrations, checkpoints, and
//! the record of what was acknowledged.

use std::ffi::c_int;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use super::commit_record::CommitRecordFile;
use super::log_file::LogFile;
use super::opened_files::OpenedFiles;
use super::writer::{ChangedRows, WriteJob};
use super::{connection, failure, values};
use crate::database::DurabilityPolicy;
use crate::migration::{CREATE_VERSIONS, READ_VERSION, WRITE_VERSION};
use crate::{Batch, Durability, Row, SchemaComponent, Statement, StoreError};

/// The commits between two looks at the size of the log.
const SIZE_CHECK_INTERVAL_COMMITS: u32 = 64;

/// The size of the log that is moved into the database. A page that was written many times is moved
/// once, so fewer checkpoints are cheaper.
const CHECKPOINT_LOG_BYTES: u64 = 4 * 1024 * 1024;

// Otherwise the log would be moved at every look.
const _: () = assert!((connection::KEPT_LOG_BYTES as u64) < CHECKPOINT_LOG_BYTES);

/// The size of a log that is truncated even if other processes have to be waited for.
const TRUNCATE_LOG_BYTES: u64 = 4 * CHECKPOINT_LOG_BYTES;

/// The steps of SQLite's machine between two looks at whether a batch was cancelled: some
/// milliseconds.
const CANCEL_CHECK_STEPS: c_int = 100_000;

/// What a commit does beyond its statements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct CommitPlan {
    /// Counts as acknowledged: its loss would be noticed.
    counted: bool,
    /// Is answered once it is on the disk.
    synced: bool,
}

impl CommitPlan {
    /// Returns the plan of one batch.
    fn of(batch: &Batch, policy: DurabilityPolicy) -> Self {
        Self {
            counted: batch.durability != Durability::ProcessCrash,
            synced: policy.must_sync(batch.durability),
        }
    }

    /// Returns the plan of a group, which does what any of its batches needs.
    fn of_group(group: &[WriteJob], policy: DurabilityPolicy) -> Self {
        group.iter().map(|job| Self::of(&job.batch, policy)).fold(
            Self { counted: false, synced: false },
            |all, one| Self { counted: all.counted | one.counted, synced: all.synced | one.synced },
        )
    }
}

/// The plan of a commit that is not acknowledged.
const UNCOUNTED: CommitPlan = CommitPlan { counted: false, synced: false };

pub(super) struct SqliteWriter {
    connection: Connection,
    location: Arc<str>,
    log: Arc<LogFile>,
    policy: DurabilityPolicy,
    files: OpenedFiles,
    record: CommitRecordFile,
    /// The number of commits since the size of the log was looked at.
    commits: u32,
}

impl SqliteWriter {
    /// Opens the connection, and compares the database with what was acknowledged.
    pub(super) fn open(
        path: &Path,
        location: Arc<str>,
        policy: DurabilityPolicy,
    ) -> Result<Self, StoreError> {
        let (connection, record) = connection::open_writer(path, &location)?;
        let path = connection::resolve(path);
        let files = OpenedFiles::new(&path);
        let log = Arc::new(LogFile::open(&path, Arc::clone(&location))?);
        Ok(Self { connection, location, log, policy, files, record, commits: 0 })
    }

    pub(super) fn log(&self) -> &Arc<LogFile> {
        &self.log
    }

    /// Runs a query that SQLite interrupts after so many steps of its machine.
    pub(super) fn query_within(
        &mut self,
        steps: c_int,
        statement: &Statement,
    ) -> rusqlite::Result<Vec<Row>> {
        self.connection.progress_handler(steps, Some(|| true))?;
        let rows = values::query(&self.connection, statement);
        self.connection.progress_handler(0, None::<fn() -> bool>)?;
        rows
    }

    /// Waits for other processes while `work` runs; outside of it, a lock is an error at once.
    pub(super) fn with_busy_timeout<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        self.with_timeout(connection::BUSY_TIMEOUT, work)
    }

    fn with_timeout<T>(&mut self, timeout: Duration, work: impl FnOnce(&mut Self) -> T) -> T {
        // The call only stores a number; if it fails, the next statement reports why.
        let _ = self.connection.busy_timeout(timeout);
        let result = work(self);
        let _ = self.connection.busy_timeout(Duration::ZERO);
        result
    }

    /// Returns an error if the files of the database are not those that were opened.
    pub(super) fn check_files(&self) -> Result<(), StoreError> {
        self.files.check(&self.location)
    }

    /// Counts a commit. Returns whether the size of the log should be looked at.
    pub(super) fn count_commit(&mut self) -> bool {
        self.commits += 1;
        self.commits >= SIZE_CHECK_INTERVAL_COMMITS
    }

    /// Moves a large log into the database. Other processes may have written it.
    pub(super) fn limit_log(&mut self) {
        self.commits = 0;
        let size = self.log.size();
        if size >= CHECKPOINT_LOG_BYTES && self.check_files().is_ok() {
            self.checkpoint("PASSIVE");
            if size >= TRUNCATE_LOG_BYTES {
                self.with_timeout(Duration::from_millis(100), |writer| {
                    writer.checkpoint("TRUNCATE");
                });
            }
        }
    }

    /// Moves the log into the database as far as possible; the rest is moved the next time.
    fn checkpoint(&mut self, mode: &str) {
        let moved =
            self.connection.query_row(&format!("PRAGMA wal_checkpoint({mode})"), [], |row| {
                Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, row.get::<_, i64>(2)?))
            });
        match moved {
            // The log was synced before it was moved.
            Ok((0, frames, moved)) if frames == moved => self.record.note_sync(),
            Ok(_) => {}
            Err(error) => tracing::debug!(%error, "the log was not moved into the database"),
        }
    }

    pub(super) fn truncate_log(&mut self) -> Result<(), StoreError> {
        self.commits = 0;
        let busy: i64 = self
            .connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
            .map_err(|error| self.failure(&error))?;
        if busy == 0 {
            return Ok(());
        }
        Err(StoreError::busy(&self.location))
    }

    /// Moves the log into the database and closes the connection. The last process to close it
    /// removes the log.
    pub(super) fn close(mut self) {
        if self.check_files().is_ok() {
            self.with_timeout(Duration::from_millis(500), |writer| writer.checkpoint("PASSIVE"));
        } else if let Err(error) =
            // Otherwise SQLite would remove the log of another database, which has its name now.
            self
                .connection
                .set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)
        {
            tracing::warn!(%error, "the log of a replaced database may be removed");
        }
    }

    /// Writes the jobs in one transaction. Returns their results, and the number of commits up to
    /// which the log has to be synced before they are answered.
    pub(super) fn commit(&mut self, group: &[WriteJob]) -> (Vec<ChangedRows>, Option<u64>) {
        let plan = CommitPlan::of_group(group, self.policy);
        let results = match group {
            // The usual case, without the two extra statements of a savepoint.
            [job] => Ok(vec![self.in_transaction(plan, |it| it.apply(&job.batch))]),
            _ => self
                .in_transaction(plan, |it| group.iter().map(|job| it.apply_alone(job)).collect()),
        };
        // An error that ended the transaction is that of all jobs.
        let results = results.unwrap_or_else(|error| vec![Err(error); group.len()]);
        let is_synced_later = plan.synced && results.iter().any(Result::is_ok);
        (results, is_synced_later.then_some(self.record.commits()))
    }

    /// Commits one batch. Returns the number of commits up to which the log has to be synced before it
    /// is answered.
    pub(super) fn commit_inline(&mut self, batch: &Batch) -> (ChangedRows, Option<u64>) {
        let plan = CommitPlan::of(batch, self.policy);
        let rows = self.in_transaction(plan, |writer| writer.apply(batch));
        let is_synced_later = plan.synced && rows.is_ok();
        (rows, is_synced_later.then_some(self.record.commits()))
    }

    /// Applies one job of several. An outer error means that SQLite rolled back the transaction,
    /// and with it the other jobs of the group.
    fn apply_alone(&mut self, job: &WriteJob) -> Result<ChangedRows, StoreError> {
        self.run_cached("SAVEPOINT job")?;
        let answer = self.apply(&job.batch);
        if let Err(error) = &answer {
            if self.connection.is_autocommit() {
                return Err(error.clone());
            }
            self.run_cached("ROLLBACK TO job")?;
        }
        self.run_cached("RELEASE job")?;
        Ok(answer)
    }

    fn apply(&mut self, batch: &Batch) -> ChangedRows {
        let Some(cancel) = batch.cancel.clone() else { return self.apply_statements(batch) };
        let set = self
            .connection
            .progress_handler(CANCEL_CHECK_STEPS, Some(move || cancel.is_cancelled()));
        let changed =
            set.map_err(|error| self.failure(&error)).and_then(|()| self.apply_statements(batch));
        self.connection
            .progress_handler(0, None::<fn() -> bool>)
            .map_err(|error| self.failure(&error))?;
        // A statement that was interrupted has failed, and the transaction is rolled back.
        batch.check_cancelled()?;
        changed
    }

    fn apply_statements(&self, batch: &Batch) -> ChangedRows {
        let mut changed = Vec::with_capacity(batch.statements.len());
        for (position, statement) in batch.statements.iter().enumerate() {
            batch.check_cancelled()?;
            let rows = values::execute(&self.connection, statement)
                .map_err(|error| self.failure(&error))?;
            changed.push(statement.check(position, rows)?);
        }
        Ok(changed)
    }

    /// Runs `work` in a transaction. What is counted and returned without an error is in the files that
    /// have the database's name.
    fn in_transaction<T>(
        &mut self,
        plan: CommitPlan,
        work: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        // A panic in the middle of the last transaction left it open.
        if !self.connection.is_autocommit() {
            self.run_cached("ROLLBACK")?;
        }
        if plan.counted {
            self.check_files()?;
        }
        self.run_cached("BEGIN IMMEDIATE")?;
        let result = work(self).and_then(|value| {
            let commits = if plan.counted { Some(self.count_acknowledged()?) } else { None };
            self.run_cached("COMMIT").map(|()| (value, commits))
        });
        match result {
            Ok((value, None)) => Ok(value),
            Ok((value, Some(commits))) => {
                self.check_files()?;
                self.record.note_commit(commits, self.log.synced_commits());
                Ok(value)
            }
            Err(error) => {
                // Some errors, such as a full disk, have already ended the transaction.
                if !self.connection.is_autocommit() {
                    self.run_cached("ROLLBACK")?;
                }
                Err(error)
            }
        }
    }

    fn count_acknowledged(&self) -> Result<u64, StoreError> {
        self.connection
            .prepare_cached(connection::COUNT_COMMIT)
            .and_then(|mut prepared| prepared.query_row([], |row| row.get::<_, i64>(0)))
            .map(|commits| u64::try_from(commits).unwrap_or(0))
            .map_err(|error| self.failure(&error))
    }

    pub(super) fn migrate(&mut self, component: &SchemaComponent) -> Result<(), StoreError> {
        match self.version(component) {
            Ok(found) if component.pending_migrations(found)?.is_empty() => return Ok(()),
            Ok(_) => {}
            Err(error) if failure::is_schema_mismatch(&error) => {}
            Err(error) => return Err(self.failure(&error)),
        }
        self.in_transaction(UNCOUNTED, |writer| {
            writer.run_text(CREATE_VERSIONS)?;
            // Read again, because another process may have migrated before the lock was acquired.
            let found = writer.version(component).map_err(|error| writer.failure(&error))?;
            let pending = component.pending_migrations(found)?;
            for migration in pending {
                writer.run_text(migration.sqlite)?;
            }
            if !pending.is_empty() {
                writer
                    .connection
                    .execute(WRITE_VERSION, (component.name, component.latest_version()))
                    .map_err(|error| writer.failure(&error))?;
            }
            Ok(())
        })
    }

    /// Returns the version of a component in this database; 0 if it has none.
    fn version(&self, component: &SchemaComponent) -> rusqlite::Result<i64> {
        let mut prepared = self.connection.prepare(READ_VERSION)?;
        let mut rows = prepared.query([component.name])?;
        rows.next()?.map_or(Ok(0), |row| row.get(0))
    }

    fn run_cached(&self, sql: &str) -> Result<(), StoreError> {
        self.connection
            .prepare_cached(sql)
            .and_then(|mut prepared| prepared.raw_execute())
            .map(drop)
            .map_err(|error| self.failure(&error))
    }

    fn run_text(&self, sql: &str) -> Result<(), StoreError> {
        self.connection.execute_batch(sql).map_err(|error| self.failure(&error))
    }

    pub(super) fn failure(&self, error: &rusqlite::Error) -> StoreError {
        failure::statement_error(error, &self.location)
    }
}
