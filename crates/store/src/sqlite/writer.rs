//! Implements the writing connection: group commits and migrations on a thread, and small commits
//! on the calling thread.

use std::ffi::c_int;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::write_connection::{CommitPlan, SqliteWriter};
use super::{answer_caller, failure};
use crate::database::DurabilityPolicy;
use crate::{Batch, Row, SchemaComponent, Statement, StoreError};

/// Limits how long the first job of a group waits for the last.
const MAX_GROUP_COUNT: usize = 128;

/// Limits the statements of a batch that is committed on the calling thread: some milliseconds.
const MAX_INLINE_STATEMENT_COUNT: usize = 128;

/// How often an idle process looks at the size of the log, which other processes write.
const LOG_CHECK_INTERVAL: Duration = Duration::from_secs(10);

/// Limits the steps of SQLite's machine that a query takes on the calling thread: some hundred rows,
/// far less than a millisecond.
const MAX_INLINE_STEPS: c_int = 4_000;

pub(super) type ChangedRows = Result<Vec<u64>, StoreError>;

/// The writer, shared by its thread and by callers that find it idle. A lock and not a channel,
/// because no thread needs to be woken; it is held for one transaction at a time.
type SharedWriter = Arc<Mutex<Option<SqliteWriter>>>;

pub(super) enum WriterJob {
    Write(WriteJob),
    Migrate {
        component: SchemaComponent,
        reply: oneshot::Sender<Result<(), StoreError>>,
    },
    /// Moves the content of a large write-ahead log into the database.
    LimitLog,
    /// Looks whether the files of the database are still those that were opened.
    CheckFiles(oneshot::Sender<Result<(), StoreError>>),
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
        if is_large || self.queued.load(Ordering::Acquire) > 0 {
            return None;
        }
        let mut shared = self.writer.try_lock()?;
        let writer = shared.as_mut()?;
        let plan = CommitPlan::of(batch, writer.policy());
        if plan.synced {
            return None;
        }
        tracing::trace!(
            first = batch.statements.first().map(|one| &*one.sql),
            "batch on the calling thread"
        );
        let rows = match writer.commit_inline(batch, plan) {
            // Nothing has happened; the thread can wait.
            Err(StoreError::Busy { .. }) => return None,
            rows => rows,
        };
        let due = writer.count_commit();
        drop(shared);
        if due {
            // Without a thread there is nothing to move either: the database is being closed.
            let _ = self.send(WriterJob::LimitLog);
        }
        Some(rows)
    }
}

/// Starts the thread. The receiver reports when the connection is open, or why it failed.
pub(super) fn spawn_writer(
    path: PathBuf,
    location: Arc<str>,
    policy: DurabilityPolicy,
) -> (WriterHandle, oneshot::Receiver<Result<(), StoreError>>) {
    let (jobs, receiver) = mpsc::channel();
    let (reply, opened) = oneshot::channel();
    let writer = SharedWriter::default();
    let queued = Arc::new(AtomicUsize::new(0));
    let handle = WriterHandle { jobs, writer: Arc::clone(&writer), queued: Arc::clone(&queued) };
    // Without a thread the receiver of `opened` gets no answer, which is an error there.
    let _ = std::thread::Builder::new().name("sqlite-writer".into()).spawn(move || {
        match SqliteWriter::open(&path, location, policy) {
            Ok(opened) => {
                *writer.lock() = Some(opened);
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
            None => match jobs.recv_timeout(LOG_CHECK_INTERVAL) {
                Ok(job) => taken(job),
                Err(mpsc::RecvTimeoutError::Timeout) => WriterJob::LimitLog,
                Err(mpsc::RecvTimeoutError::Disconnected) => {
                    if let Some(writer) = shared.lock().take() {
                        writer.close();
                    }
                    return;
                }
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
                    writer.limit_log();
                }
            }
            WriterJob::Migrate { component, reply } => {
                answer_caller(reply, writer.with_busy_timeout(|writer| writer.migrate(&component)));
            }
            WriterJob::LimitLog => writer.limit_log(),
            WriterJob::CheckFiles(reply) => answer_caller(reply, writer.check_files()),
            WriterJob::Truncate(reply) => {
                answer_caller(reply, writer.with_busy_timeout(SqliteWriter::truncate_log));
            }
            WriterJob::Close(reply) => {
                if let Some(writer) = guard.take() {
                    writer.close();
                }
                answer_caller(reply, ());
                return;
            }
        }
    }
}

/// Sends each job its own result, or all of them the error that ended their transaction.
pub(super) fn answer_all(group: &mut Vec<WriteJob>, answers: Result<Vec<ChangedRows>, StoreError>) {
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
