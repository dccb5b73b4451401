//! Implements the SQLite engine: one writing connection, one reading connection, and a thread for
//! each.
//!
//! A queue in front of the writer lets concurrent sessions share a commit. Waking a thread costs
//! about as much CPU as a small commit itself, so a caller that finds the writer idle commits and
//! reads on its own thread; everything that may have to wait (another process, a sync) or takes
//! many steps (a long read) is sent to the threads. Commits that wait for the disk share a sync.

mod backup;
mod commit_record;
mod connection;
mod failure;
mod integrity;
mod lock_holder;
mod log_file;
mod opened_files;
mod reader;
mod repair;
mod values;
mod write_connection;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::oneshot;

use crate::database::DurabilityPolicy;
use crate::{Batch, Row, RowView, SchemaComponent, Statement, StoreError};

pub(crate) use backup::{check_backup, restore_backup};
pub(crate) use repair::repair;

/// Sends an answer to a caller. One that does not wait for it any more needs none.
fn answer_caller<T>(reply: oneshot::Sender<T>, answer: T) {
    let _ = reply.send(answer);
}

/// The handle on both connections and threads. They end when it is dropped.
pub(crate) struct SqliteDatabase {
    path: PathBuf,
    location: Arc<str>,
    writer: writer::WriterHandle,
    reader: reader::ReaderHandle,
    closed: AtomicBool,
}

impl SqliteDatabase {
    pub(crate) async fn open(path: &Path, policy: DurabilityPolicy) -> Result<Self, StoreError> {
        let location: Arc<str> = path.display().to_string().into();
        let (writer, opened) = writer::spawn_writer(path.to_owned(), location.clone(), policy);
        // No answer means no thread.
        opened
            .await
            .unwrap_or_else(|_| {
                Err(StoreError::Open {
                    location: location.to_string(),
                    reason: "the system has no thread to spare".into(),
                })
            })
            .map_err(|error| lock_holder::name_holder(error, &connection::resolve(path)))?;
        let reader = reader::ReaderHandle::new(path.to_owned(), location.clone());
        let path = path.to_owned();
        Ok(Self { path, location, writer, reader, closed: AtomicBool::new(false) })
    }

    pub(crate) async fn migrate(&self, component: SchemaComponent) -> Result<(), StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(writer::WriterJob::Migrate { component, reply })?;
        let migrated = answer.await.map_err(|_| StoreError::Closed)?;
        migrated.map_err(|error| self.explain(error))
    }

    pub(crate) async fn write(&self, batch: Batch) -> Result<Vec<u64>, StoreError> {
        if let Some((rows, unsynced)) = self.writer.try_write(&batch) {
            if let Some(commits) = unsynced {
                let (reply, answer) = oneshot::channel();
                self.send(writer::WriterJob::Sync(writer::SyncJob { commits, reply }))?;
                answer.await.map_err(|_| StoreError::Closed)??;
            }
            return rows;
        }
        tracing::trace!(statements = batch.statements.len(), "batch on the writer's thread");
        let (reply, answer) = oneshot::channel();
        self.send(writer::WriterJob::Write(writer::WriteJob { batch, reply }))?;
        let written = answer.await.map_err(|_| StoreError::Closed)?;
        written.map_err(|error| self.explain(error))
    }

    pub(crate) async fn query(&self, statement: Statement) -> Result<Vec<Row>, StoreError> {
        if self.closed.load(Ordering::Acquire) {
            return Err(StoreError::Closed);
        }
        if !statement.long
            && let Some(rows) = self.writer.try_query(&statement)
        {
            return rows;
        }
        tracing::trace!(sql = &*statement.sql, "query on the reader's thread");
        let (reply, answer) = oneshot::channel();
        self.reader.send(reader::ReadJob::Query { statement, reply })?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    pub(crate) async fn fold<T, F>(
        &self,
        statement: Statement,
        mut state: T,
        mut step: F,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&mut T, &RowView<'_>) -> Result<(), StoreError> + Send + 'static,
    {
        if self.closed.load(Ordering::Acquire) {
            return Err(StoreError::Closed);
        }
        let (reply, answer) = oneshot::channel();
        self.reader.send(reader::ReadJob::Visit(Box::new(move |reader| {
            let visited = reader.visit(&statement, &mut |row| step(&mut state, row));
            answer_caller(reply, visited.map(|()| state));
        })))?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// Names the process that holds a lock.
    fn explain(&self, error: StoreError) -> StoreError {
        lock_holder::name_holder(error, &connection::resolve(&self.path))
    }

    /// Truncates the write-ahead log, which keeps old pages until they are overwritten.
    pub(crate) async fn truncate_log(&self) -> Result<(), StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(writer::WriterJob::Truncate(reply))?;
        let truncated = answer.await.map_err(|_| StoreError::Closed)?;
        truncated.map_err(|error| self.explain(error))
    }

    /// Returns an error if the files of the database were deleted or replaced.
    pub(crate) async fn check_files(&self) -> Result<(), StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(writer::WriterJob::CheckFiles(reply))?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    pub(crate) async fn close(&self) {
        self.closed.store(true, Ordering::Release);
        // The reader is closed first: the last connection to close truncates the log.
        self.reader.close().await;
        let (reply, ended) = oneshot::channel();
        if self.writer.send(writer::WriterJob::Close(reply)).is_ok() {
            // A thread that is gone has closed its connection, too.
            let _ = ended.await;
        }
    }

    /// Returns what SQLite finds wrong with the whole database.
    pub(crate) async fn find_damage(&self) -> Result<Vec<String>, StoreError> {
        let (path, location) = (self.path.clone(), Arc::clone(&self.location));
        crate::backup::run_blocking(move || {
            let connection = connection::open_reader(&path, &location)?;
            // Damage that ends the check is damage as well.
            Ok(integrity::find_problems(&connection)
                .unwrap_or_else(|error| vec![error.to_string()]))
        })
        .await
    }

    fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn location(&self) -> &str {
        &self.location
    }

    fn send(&self, job: writer::WriterJob) -> Result<(), StoreError> {
        self.writer.send(job)
    }
}
