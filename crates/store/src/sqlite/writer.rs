//! Implements the writing connection: group commits and migrations on a thread, and small commits
//! on the calling thread.

use std::ffi::c_int;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use parking_lot::Mutex;
use rusqlite::Connection;
use tokio::sync::oneshot;

use super::{answer_caller, connection, failure, values};
use crate::migration::{CREATE_VERSIONS, READ_VERSION, WRITE_VERSION};
use crate::{Batch, Durability, Row, SchemaComponent, Statement, StoreError};

/// Limits how long the first job of a group waits for the last.
const MAX_GROUP_COUNT: usize = 128;

/// The number of commits between two checkpoints: a log of a few megabytes. A page that was written
/// many times is moved once, so fewer checkpoints are cheaper.
const CHECKPOINT_INTERVAL_COMMITS: u32 = 1000;

/// Limits the statements of a batch that is committed on the calling thread: some milliseconds.
const MAX_INLINE_STATEMENT_COUNT: usize = 128;

/// The steps of SQLite's machine between two looks at whether a batch was cancelled: some
/// milliseconds.
const CANCEL_CHECK_STEPS: c_int = 100_000;

/// Limits the steps of SQLite's machine that a query takes on the calling thread: some hundred rows,
/// far less than a millisecond.
const MAX_INLINE_STEPS: c_int = 4_000;

type ChangedRows = Result<Vec<u64>, StoreError>;

/// The writer, shared by its thread and by callers that find it idle. A lock and not a channel,
/// because no thread needs to be woken; it is held for one transaction at a time.
type SharedWriter = Arc<Mutex<Option<SqliteWriter>>>;

pub(super) enum WriterJob {
    Write(WriteJob),
    Migrate {
        component: SchemaComponent,
        reply: oneshot::Sender<Result<(), StoreError>>,
    },
    /// Moves the content of the write-ahead log into the database.
    Checkpoint,
    /// Moves all of it, and truncates the log.
    Truncate(oneshot::Sender<Result<(), StoreError>>),
    Close(oneshot::Sender<()>),
}

pub(super) struct WriteJob {
    pub(super) batch: Batch,
    pub(super) reply: oneshot::Sender<ChangedRows>,
}

/// The handle on the writer.
pub(super) struct WriterHandle {
    jobs: mpsc::Sender<WriterJob>,
    writer: SharedWriter,
    /// The number of jobs that were sent and not yet taken: while there are any, no caller
    /// overtakes them.
    queued: Arc<AtomicUsize>,
}

impl WriterHandle {
    /// Sends a job to the thread.
    pub(super) fn send(&self, job: WriterJob) -> Result<(), StoreError> {
        self.queued.fetch_add(1, Ordering::AcqRel);
        self.jobs.send(job).map_err(|_| StoreError::Closed)
    }

    /// Runs a query on this thread if the writer is idle and the query turns out to be short. The
    /// writer's connection has the newest pages in its cache; the reader would have to fetch them.
    pub(super) fn try_query(&self, statement: &Statement) -> Option<Result<Vec<Row>, StoreError>> {
        let mut shared = self.writer.try_lock()?;
        let writer = shared.as_mut()?;
        match writer.query_within(MAX_INLINE_STEPS, statement) {
            Err(error) if failure::is_interrupt(&error) => None,
            Err(error) => match writer.failure(&error) {
                StoreError::Busy { .. } => None,
                error => Some(Err(error)),
            },
            Ok(rows) => {
                tracing::trace!(sql = &*statement.sql, "query on the calling thread");
                Some(Ok(rows))
            }
        }
    }

    /// Commits a batch on this thread if that needs no waiting: the writer is idle, no other
    /// process holds the database, and the batch need not reach the disk.
    pub(super) fn try_write(&self, batch: &Batch) -> Option<ChangedRows> {
        let is_large = batch.statements.len() > MAX_INLINE_STATEMENT_COUNT;
        let must_wait = is_large || batch.durability == Durability::PowerLoss;
        if must_wait || self.queued.load(Ordering::Acquire) > 0 {
            return None;
        }
        let mut shared = self.writer.try_lock()?;
        let writer = shared.as_mut()?;
        tracing::trace!(
            first = batch.statements.first().map(|one| &*one.sql),
            "batch on the calling thread"
        );
        let rows = match writer.in_transaction(|writer| writer.apply(batch)) {
            // Nothing has happened; the thread can wait.
            Err(StoreError::Busy { .. }) => return None,
            rows => rows,
        };
        let due = writer.count_commit();
        drop(shared);
        if due {
            // Without a thread there is nothing to move either: the database is being closed.
            let _ = self.send(WriterJob::Checkpoint);
        }
        Some(rows)
    }
}

/// Starts the thread. The receiver reports when the connection is open, or why it failed.
pub(super) fn spawn_writer(
    path: PathBuf,
    location: Arc<str>,
) -> (WriterHandle, oneshot::Receiver<Result<(), StoreError>>) {
    let (jobs, receiver) = mpsc::channel();
    let (reply, opened) = oneshot::channel();
    let writer = SharedWriter::default();
    let queued = Arc::new(AtomicUsize::new(0));
    let handle = WriterHandle { jobs, writer: Arc::clone(&writer), queued: Arc::clone(&queued) };
    // Without a thread the receiver of `opened` gets no answer, which is an error there.
    let _ = std::thread::Builder::new().name("sqlite-writer".into()).spawn(move || {
        match connection::open_writer(&path, &location) {
            Ok(connection) => {
                *writer.lock() = Some(SqliteWriter { connection, location, commits: 0 });
                answer_caller(reply, Ok(()));
                process_queue(&writer, &receiver, &queued);
            }
            Err(error) => {
                answer_caller(reply, Err(error));
            }
        }
    });
    (handle, opened)
}

/// Processes the queue until the last handle is dropped.
fn process_queue(shared: &SharedWriter, jobs: &mpsc::Receiver<WriterJob>, queued: &AtomicUsize) {
    let mut postponed = None;
    let mut group = Vec::new();
    let taken = |job| {
        queued.fetch_sub(1, Ordering::AcqRel);
        job
    };
    loop {
        let job = match postponed.take() {
            Some(job) => job,
            None => match jobs.recv() {
                Ok(job) => taken(job),
                Err(mpsc::RecvError) => return,
            },
        };
        let mut guard = shared.lock();
        let Some(writer) = guard.as_mut() else { return };
        match job {
            WriterJob::Write(first) => {
                group.push(first);
                while group.len() < MAX_GROUP_COUNT {
                    match jobs.try_recv().map(taken) {
                        Ok(WriterJob::Write(next)) => group.push(next),
                        Ok(other) => {
                            postponed = Some(other);
                            break;
                        }
                        Err(_) => break,
                    }
                }
                writer.with_busy_timeout(|writer| writer.commit(&mut group));
                if writer.count_commit() {
                    writer.checkpoint();
                }
            }
            WriterJob::Migrate { component, reply } => {
                answer_caller(reply, writer.with_busy_timeout(|writer| writer.migrate(&component)));
            }
            WriterJob::Checkpoint => writer.checkpoint(),
            WriterJob::Truncate(reply) => {
                answer_caller(reply, writer.with_busy_timeout(SqliteWriter::truncate_log));
            }
            WriterJob::Close(reply) => {
                *guard = None;
                answer_caller(reply, ());
                return;
            }
        }
    }
}

struct SqliteWriter {
    connection: Connection,
    location: Arc<str>,
    /// The number of commits since the last checkpoint.
    commits: u32,
}

impl SqliteWriter {
    /// Runs a query that SQLite interrupts after so many steps of its machine.
    fn query_within(&mut self, steps: c_int, statement: &Statement) -> rusqlite::Result<Vec<Row>> {
        self.connection.progress_handler(steps, Some(|| true))?;
        let rows = values::query(&self.connection, statement);
        self.connection.progress_handler(0, None::<fn() -> bool>)?;
        rows
    }

    /// Waits for other processes while `work` runs; outside of it, a lock is an error at once.
    fn with_busy_timeout<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> T {
        // The call only stores a number; if it fails, the next statement reports why.
        let _ = self.connection.busy_timeout(connection::BUSY_TIMEOUT);
        let result = work(self);
        let _ = self.connection.busy_timeout(Duration::ZERO);
        result
    }

    /// Counts a commit. Returns whether a checkpoint is due.
    fn count_commit(&mut self) -> bool {
        self.commits += 1;
        self.commits >= CHECKPOINT_INTERVAL_COMMITS
    }

    fn checkpoint(&mut self) {
        self.commits = 0;
        // What could not be moved now is moved the next time.
        let _ = self.connection.query_row("PRAGMA wal_checkpoint(PASSIVE)", [], |_| Ok(()));
    }

    fn truncate_log(&mut self) -> Result<(), StoreError> {
        self.commits = 0;
        let busy: i64 = self
            .connection
            .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |row| row.get(0))
            .map_err(|error| self.failure(&error))?;
        if busy == 0 {
            return Ok(());
        }
        Err(StoreError::Busy { location: self.location.to_string() })
    }

    /// Writes the jobs in one transaction and answers each of them after the commit.
    fn commit(&mut self, group: &mut Vec<WriteJob>) {
        let wait_for_disk = group.iter().any(|job| job.batch.durability == Durability::PowerLoss);
        // Not prepared: this pragma takes effect while it is compiled, and only outside a
        // transaction.
        if wait_for_disk && let Err(error) = self.run_text("PRAGMA synchronous = FULL") {
            answer_all(group, Err(error));
            return;
        }
        if group.len() > 1 {
            let answers =
                self.in_transaction(|it| group.iter().map(|job| it.apply_alone(job)).collect());
            answer_all(group, answers);
        } else if let Some(job) = group.pop() {
            // The usual case, without the two extra statements of a savepoint.
            answer_caller(job.reply, self.in_transaction(|it| it.apply(&job.batch)));
        }
        if wait_for_disk {
            // A failure here only leaves the connection slower than needed.
            let _ = self.run_text("PRAGMA synchronous = NORMAL");
        }
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

    fn in_transaction<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        // A panic in the middle of the last transaction left it open.
        if !self.connection.is_autocommit() {
            self.run_cached("ROLLBACK")?;
        }
        self.run_cached("BEGIN IMMEDIATE")?;
        let result = work(self).and_then(|value| self.run_cached("COMMIT").map(|()| value));
        // Some errors, such as a full disk, have already ended the transaction.
        if result.is_err() && !self.connection.is_autocommit() {
            self.run_cached("ROLLBACK")?;
        }
        result
    }

    fn migrate(&mut self, component: &SchemaComponent) -> Result<(), StoreError> {
        match self.version(component) {
            Ok(found) if component.pending_migrations(found)?.is_empty() => return Ok(()),
            Ok(_) => {}
            Err(error) if failure::is_schema_mismatch(&error) => {}
            Err(error) => return Err(self.failure(&error)),
        }
        self.in_transaction(|writer| {
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

    fn failure(&self, error: &rusqlite::Error) -> StoreError {
        failure::statement_error(error, &self.location)
    }
}

/// Sends each job its own result, or all of them the error that ended their transaction.
fn answer_all(group: &mut Vec<WriteJob>, answers: Result<Vec<ChangedRows>, StoreError>) {
    match answers {
        Ok(answers) => {
            for (job, answer) in group.drain(..).zip(answers) {
                answer_caller(job.reply, answer);
            }
        }
        Err(error) => {
            for job in group.drain(..) {
                answer_caller(job.reply, Err(error.clone()));
            }
        }
    }
}
