//! Implements the reading connection. In WAL mode it never waits for the writer.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock, mpsc};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::{answer_caller, connection, failure, values};
use crate::{Row, RowView, Statement, StoreError};

pub(super) enum ReadJob {
    Query {
        statement: Statement,
        reply: oneshot::Sender<Result<Vec<Row>, StoreError>>,
    },
    /// Visits many rows.
    Visit(Box<dyn FnOnce(&mut SqliteReader) + Send>),
    Close(oneshot::Sender<()>),
}

/// The handle on the reader. The connection and the thread are created on first use: a process that
/// only appends never pays for them.
pub(super) struct ReaderHandle {
    path: PathBuf,
    location: Arc<str>,
    thread: OnceLock<mpsc::Sender<ReadJob>>,
}

impl ReaderHandle {
    pub(super) fn new(path: PathBuf, location: Arc<str>) -> Self {
        Self { path, location, thread: OnceLock::new() }
    }

    /// Sends a job to the thread. If no thread can be started, the receiver is dropped at once and
    /// every query reports that the database is closed.
    pub(super) fn send(&self, job: ReadJob) -> Result<(), StoreError> {
        let thread =
            self.thread.get_or_init(|| spawn_reader(self.path.clone(), Arc::clone(&self.location)));
        thread.send(job).map_err(|_| StoreError::Closed)
    }

    pub(super) async fn close(&self) {
        if let Some(thread) = self.thread.get() {
            let (reply, ended) = oneshot::channel();
            if thread.send(ReadJob::Close(reply)).is_ok() {
                // A thread that is gone has closed its connection, too.
                let _ = ended.await;
            }
        }
    }
}

fn spawn_reader(path: PathBuf, location: Arc<str>) -> mpsc::Sender<ReadJob> {
    let (sender, receiver) = mpsc::channel();
    // Without a thread the receiver is gone, and every query is refused as closed.
    let _ = std::thread::Builder::new().name("sqlite-reader".into()).spawn(move || {
        let mut reader = SqliteReader { path, location, connection: None };
        while let Ok(job) = receiver.recv() {
            match job {
                ReadJob::Query { statement, reply } => {
                    answer_caller(reply, reader.query(&statement));
                }
                ReadJob::Visit(visit) => visit(&mut reader),
                ReadJob::Close(reply) => {
                    drop(reader);
                    answer_caller(reply, ());
                    return;
                }
            }
        }
    });
    sender
}

pub(super) struct SqliteReader {
    path: PathBuf,
    location: Arc<str>,
    connection: Option<Connection>,
}

impl SqliteReader {
    fn query(&mut self, statement: &Statement) -> Result<Vec<Row>, StoreError> {
        values::query(self.connection()?, statement)
            .map_err(|error| failure::statement_error(&error, &self.location))
    }

    /// Calls `see` for each row, in order.
    pub(super) fn visit(
        &mut self,
        statement: &Statement,
        see: &mut dyn FnMut(&RowView<'_>) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let location = Arc::clone(&self.location);
        let failed = |error: rusqlite::Error| failure::statement_error(&error, &location);
        values::visit_rows(self.connection()?, statement, see).map_err(failed)?
    }

    fn connection(&mut self) -> Result<&Connection, StoreError> {
        Ok(match &mut self.connection {
            Some(connection) => connection,
            empty => empty.insert(connection::open_reader(&self.path, &self.location)?),
        })
    }
}
