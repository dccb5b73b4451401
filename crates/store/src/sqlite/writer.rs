//! Implements the writing connection: group commits and migrations on a thread, and small commits
//! on the calling thread.

use std::ffi::c_int;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::oneshot;

use super::log_file::LogFile;
use super::write_connection::SqliteWriter;
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
    /// Syncs the log after a commit on a calling thread.
    Sync(SyncJob),
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

pub(super) struct SyncJob {
    /// The number of acknowledged commits up to the one that waits.
    pub(super) commits: u64,
    pub(super) reply: oneshot::Sender<Result<(), StoreError>>,
}

/// The handle on the writer.
pub(super) struct WriterHandle {
    jobs: mpsc::Sender<WriterJob>,
    writer: SharedWriter,
    /// The number of jobs for the connection that were sent and not yet taken: while there are any, no
    /// caller overtakes them.
    queued: Arc<AtomicUsize>,
}

impl WriterHandle {
    /// Sends a job to the thread.
    pub(super) fn send(&self, job: WriterJob) -> Result<(), StoreError> {
        if !matches!(job, WriterJob::Sync(_)) {
            self.queued.fetch_add(1, Ordering::AcqRel);
        }
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

    /// Commits a batch on this thread if that needs no waiting: the writer is idle, and no other
    /// process holds the database. A number of commits is returned as well if the log has to be synced
    /// up to it.
    pub(super) fn try_write(&self, batch: &Batch) -> Option<(ChangedRows, Option<u64>)> {
        let is_large = batch.statements.len() > MAX_INLINE_STATEMENT_COUNT;
        if is_large || self.queued.load(Ordering::Acquire) > 0 {
            return None;
        }
        let mut shared = self.writer.try_lock()?;
        let writer = shared.as_mut()?;
        tracing::trace!(
            first = batch.statements.first().map(|one| &*one.sql),
            "batch on the calling thread"
        );
        let committed = match writer.commit_inline(batch) {
            // Nothing has happened; the thread can wait.
            (Err(StoreError::Busy { .. }), _) => return None,
            committed => committed,
        };
        let due = writer.count_commit();
        drop(shared);
        if due {
            // Without a thread there is nothing to move either: the database is being closed.
            let _ = self.send(WriterJob::LimitLog);
        }
        Some(committed)
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
                let log = Arc::clone(opened.log());
                *writer.lock() = Some(opened);
                answer_caller(reply, Ok(()));
                process_queue(&writer, &log, &receiver, &queued);
            }
            Err(error) => {
                answer_caller(reply, Err(error));
            }
        }
    });
    (handle, opened)
}

/// Processes the queue until the last handle is dropped.
fn process_queue(
    shared: &SharedWriter,
    log: &LogFile,
    jobs: &mpsc::Receiver<WriterJob>,
    queued: &AtomicUsize,
) {
    let mut postponed = None;
    let (mut group, mut syncs) = (Vec::new(), Vec::new());
    let taken = |job| {
        if !matches!(job, WriterJob::Sync(_)) {
            queued.fetch_sub(1, Ordering::AcqRel);
        }
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
                if !commit_group(shared, log, &mut group) {
                    return;
                }
            }
            WriterJob::Sync(first) => {
                syncs.push(first);
                loop {
                    match jobs.try_recv().map(taken) {
                        Ok(WriterJob::Sync(next)) => syncs.push(next),
                        Ok(other) => {
                            postponed = Some(other);
                            break;
                        }
                        Err(_) => break,
                    }
                }
                sync_group(log, &mut syncs);
            }
            job => {
                if !process_job(shared, job) {
                    return;
                }
            }
        }
    }
}

/// Processes a job that shares nothing with others. Returns false if the connection is closed.
fn process_job(shared: &SharedWriter, job: WriterJob) -> bool {
    let mut guard = shared.lock();
    let Some(writer) = guard.as_mut() else { return false };
    match job {
        // Both come in groups.
        WriterJob::Write(_) | WriterJob::Sync(_) => {}
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
            return false;
        }
    }
    true
}

/// Commits jobs, syncs the log if one of them needs it, and answers them. Returns false if the
/// connection is closed.
fn commit_group(shared: &SharedWriter, log: &LogFile, group: &mut Vec<WriteJob>) -> bool {
    let mut guard = shared.lock();
    let Some(writer) = guard.as_mut() else { return false };
    let (results, unsynced) = writer.with_busy_timeout(|writer| writer.commit(group));
    let is_check_due = writer.count_commit();
    // Callers commit while the disk is waited for.
    drop(guard);
    let synced = unsynced.map_or(Ok(()), |commits| log.sync(commits));
    for (job, rows) in group.drain(..).zip(results) {
        let rows = rows.and_then(|rows| synced.clone().map(|()| rows));
        answer_caller(job.reply, rows);
    }
    if is_check_due && let Some(writer) = shared.lock().as_mut() {
        writer.limit_log();
    }
    true
}

/// Syncs the log once for all that wait for it.
fn sync_group(log: &LogFile, group: &mut Vec<SyncJob>) {
    let commits = group.iter().map(|job| job.commits).max().unwrap_or(0);
    let synced = log.sync(commits);
    for job in group.drain(..) {
        answer_caller(job.reply, synced.clone());
    }
}
