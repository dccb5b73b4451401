//! The thread that owns the writing connection: group commit and migrations.

use std::path::PathBuf;
use std::sync::{Arc, mpsc};

use rusqlite::Connection;
use tokio::sync::oneshot;

use super::{connection, failure, values};
use crate::migration::{CREATE_VERSIONS, READ_VERSION, WRITE_VERSION};
use crate::{Batch, Component, Durability, StoreError};

/// Bounds how long the first job of a group waits for the last.
const LARGEST_GROUP: usize = 128;

type Rows = Result<Vec<u64>, StoreError>;

pub(super) enum Job {
    Write(WriteJob),
    Migrate { component: Component, reply: oneshot::Sender<Result<(), StoreError>> },
    Close(oneshot::Sender<()>),
}

pub(super) struct WriteJob {
    pub(super) batch: Batch,
    pub(super) reply: oneshot::Sender<Rows>,
}

/// Starts the thread. The second part tells when the connection is open, or why it is not.
pub(super) fn spawn(
    path: PathBuf,
    location: Arc<str>,
) -> (mpsc::Sender<Job>, oneshot::Receiver<Result<(), StoreError>>) {
    let (sender, receiver) = mpsc::channel();
    let (reply, opened) = oneshot::channel();
    let _ = std::thread::Builder::new().name("sqlite-writer".into()).spawn(move || {
        match connection::open_writer(&path, &location) {
            Ok(connection) => {
                let _ = reply.send(Ok(()));
                Writer { connection, location }.run(&receiver);
            }
            Err(error) => {
                let _ = reply.send(Err(error));
            }
        }
    });
    (sender, opened)
}

struct Writer {
    connection: Connection,
    location: Arc<str>,
}

impl Writer {
    fn run(self, jobs: &mpsc::Receiver<Job>) {
        let mut postponed = None;
        let mut group = Vec::new();
        loop {
            let job = match postponed.take() {
                Some(job) => job,
                None => match jobs.recv() {
                    Ok(job) => job,
                    Err(mpsc::RecvError) => return,
                },
            };
            match job {
                Job::Write(first) => {
                    group.push(first);
                    while group.len() < LARGEST_GROUP {
                        match jobs.try_recv() {
                            Ok(Job::Write(next)) => group.push(next),
                            Ok(other) => {
                                postponed = Some(other);
                                break;
                            }
                            Err(_) => break,
                        }
                    }
                    self.commit(&mut group);
                }
                Job::Migrate { component, reply } => {
                    let _ = reply.send(self.migrate(&component));
                }
                Job::Close(reply) => {
                    drop(self);
                    let _ = reply.send(());
                    return;
                }
            }
        }
    }

    /// Writes the jobs in one transaction and answers each of them after its commit.
    fn commit(&self, group: &mut Vec<WriteJob>) {
        let wait_for_disk = group.iter().any(|job| job.batch.durability == Durability::PowerLoss);
        // Not prepared: this pragma takes effect while it is compiled, and only outside a
        // transaction.
        if wait_for_disk && let Err(error) = self.run_text("PRAGMA synchronous = FULL") {
            answer_all(group, Err(error));
            return;
        }
        if group.len() > 1 {
            let answers =
                self.in_transaction(|| group.iter().map(|job| self.apply_alone(job)).collect());
            answer_all(group, answers);
        } else if let Some(job) = group.pop() {
            // The usual case, without the two extra statements of a savepoint.
            let _ = job.reply.send(self.in_transaction(|| self.apply(&job.batch)));
        }
        if wait_for_disk {
            // Failing here leaves the connection slower than needed and nothing else.
            let _ = self.run_text("PRAGMA synchronous = NORMAL");
        }
    }

    /// Applies one job of several. An outer error means that SQLite gave up the transaction, and
    /// the other jobs of the group with it.
    fn apply_alone(&self, job: &WriteJob) -> Result<Rows, StoreError> {
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

    fn apply(&self, batch: &Batch) -> Rows {
        let mut changed = Vec::with_capacity(batch.statements.len());
        for (position, statement) in batch.statements.iter().enumerate() {
            let rows = values::execute(&self.connection, statement)
                .map_err(|error| self.failure(&error))?;
            changed.push(statement.check(position, rows)?);
        }
        Ok(changed)
    }

    fn in_transaction<T>(
        &self,
        work: impl FnOnce() -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        self.run_cached("BEGIN IMMEDIATE")?;
        let result = work().and_then(|value| self.run_cached("COMMIT").map(|()| value));
        // Some errors, a full disk among them, have already ended the transaction.
        if result.is_err() && !self.connection.is_autocommit() {
            self.run_cached("ROLLBACK")?;
        }
        result
    }

    fn migrate(&self, component: &Component) -> Result<(), StoreError> {
        match self.version(component) {
            Ok(found) if component.pending(found)?.is_empty() => return Ok(()),
            Ok(_) => {}
            Err(error) if failure::is_schema_mismatch(&error) => {}
            Err(error) => return Err(self.failure(&error)),
        }
        self.in_transaction(|| {
            self.run_text(CREATE_VERSIONS)?;
            // Again, because another process may have been faster before the lock was ours.
            let found = self.version(component).map_err(|error| self.failure(&error))?;
            let pending = component.pending(found)?;
            for migration in pending {
                self.run_text(migration.sqlite)?;
            }
            if !pending.is_empty() {
                self.connection
                    .execute(WRITE_VERSION, (component.name, component.known()))
                    .map_err(|error| self.failure(&error))?;
            }
            Ok(())
        })
    }

    /// The version of a component in this database; 0 where it was never there.
    fn version(&self, component: &Component) -> rusqlite::Result<i64> {
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
        failure::running(error, &self.location)
    }
}

/// Tells each job its own result, or all of them the one that ended their transaction.
fn answer_all(group: &mut Vec<WriteJob>, answers: Result<Vec<Rows>, StoreError>) {
    match answers {
        Ok(answers) => {
            for (job, answer) in group.drain(..).zip(answers) {
                let _ = job.reply.send(answer);
            }
        }
        Err(error) => {
            for job in group.drain(..) {
                let _ = job.reply.send(Err(error.clone()));
            }
        }
    }
}
