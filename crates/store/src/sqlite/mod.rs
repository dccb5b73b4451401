//! SQLite: a thread that owns the writing connection, and a thread that owns the reading one.
//!
//! Threads and channels instead of a pool, because SQLite has one writer anyway, and because a
//! queue in front of it lets concurrent sessions share a commit.

mod connection;
mod failure;
mod reader;
mod values;
mod writer;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, mpsc};

use tokio::sync::oneshot;

use crate::{Batch, Component, Row, Statement, StoreError};

/// The handle on both threads. They end when it is dropped.
pub(crate) struct SqliteDatabase {
    path: PathBuf,
    location: Arc<str>,
    writer: mpsc::Sender<writer::Job>,
    /// Started by the first query: a process that only appends never pays for it.
    reader: OnceLock<mpsc::Sender<reader::Job>>,
    closed: AtomicBool,
}

impl SqliteDatabase {
    pub(crate) async fn open(path: &Path) -> Result<Self, StoreError> {
        let location: Arc<str> = path.display().to_string().into();
        let (writer, opened) = writer::spawn(path.to_owned(), location.clone());
        // No answer means no thread.
        opened.await.unwrap_or_else(|_| {
            Err(StoreError::Open {
                location: location.to_string(),
                reason: "the system has no thread to spare".into(),
            })
        })?;
        Ok(Self {
            path: path.to_owned(),
            location,
            writer,
            reader: OnceLock::new(),
            closed: AtomicBool::new(false),
        })
    }

    pub(crate) async fn migrate(&self, component: Component) -> Result<(), StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(writer::Job::Migrate { component, reply })?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    pub(crate) async fn write(&self, batch: Batch) -> Result<Vec<u64>, StoreError> {
        let (reply, answer) = oneshot::channel();
        self.send(writer::Job::Write(writer::WriteJob { batch, reply }))?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    pub(crate) async fn query(&self, statement: Statement) -> Result<Vec<Row>, StoreError> {
        if self.closed.load(Ordering::Acquire) {
            return Err(StoreError::Closed);
        }
        let reader =
            self.reader.get_or_init(|| reader::spawn(self.path.clone(), self.location.clone()));
        let (reply, answer) = oneshot::channel();
        reader.send(reader::Job::Query { statement, reply }).map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    pub(crate) async fn close(&self) {
        self.closed.store(true, Ordering::Release);
        // The reader first: the last connection to close is the one that empties the WAL.
        if let Some(reader) = self.reader.get() {
            let (reply, ended) = oneshot::channel();
            if reader.send(reader::Job::Close(reply)).is_ok() {
                let _ = ended.await;
            }
        }
        let (reply, ended) = oneshot::channel();
        if self.writer.send(writer::Job::Close(reply)).is_ok() {
            let _ = ended.await;
        }
    }

    pub(crate) fn location(&self) -> &str {
        &self.location
    }

    fn send(&self, job: writer::Job) -> Result<(), StoreError> {
        self.writer.send(job).map_err(|_| StoreError::Closed)
    }
}
