//! Implements the PostgreSQL engine: a small connection pool, and retries after broken connections.
//!
//! No operation waits for ever: the server limits its statements, and this side what it waits for,
//! because a network that swallows everything answers nothing at all. A connection that was given
//! up on is closed.

mod backup;
mod connect;
mod failure;
mod transactions;
mod values;

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use deadpool_postgres::{Object, Pool};
use futures_util::TryStreamExt as _;
use tokio_postgres::error::SqlState;

use crate::migration::{CREATE_VERSIONS, READ_VERSION, WRITE_VERSION};
use crate::row::ViewedRow;
use crate::{Batch, Migration, Row, RowView, SchemaComponent, Statement, StoreError};
pub(crate) use backup::restore_backup;
use failure::FailedAttempt;

/// Limits how long a broken connection is retried: longer than a restart or a crash recovery of the
/// server usually takes.
const RETRY_TIMEOUT: Duration = Duration::from_secs(30);

/// The pause before the first retry. Each further one is twice as long, up to the longest.
const FIRST_RETRY_INTERVAL: Duration = Duration::from_millis(100);

const MAX_RETRY_INTERVAL: Duration = Duration::from_secs(2);

/// Limits how long an answer of the server is waited for. Longer than the server itself waits for a
/// lock, so that its own reason is heard.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);

/// Limits how long old marks of batches are removed when the database is closed.
const CLEANUP_TIMEOUT: Duration = Duration::from_secs(1);

/// The batches of a process between two removals of old marks.
const CLEANUP_INTERVAL_BATCHES: u64 = 1000;

/// An arbitrary number, but the same in every process of lango.
const MIGRATION_LOCK: &str = "SELECT pg_advisory_xact_lock(5497570813)";

/// The marks of committed batches. Each batch has one, so that its outcome can be read back if the
/// connection breaks during the commit.
pub(crate) const COMPONENT: SchemaComponent = SchemaComponent {
    name: "store",
    migrations: &[Migration {
        version: 1,
        sqlite: "",
        postgres: "CREATE TABLE store_batches (id TEXT NOT NULL PRIMARY KEY, \
                   changed TEXT NOT NULL, at TIMESTAMPTZ NOT NULL DEFAULT now())",
    }],
};

pub(crate) struct PostgresDatabase {
    shared: Arc<SharedPool>,
}

struct SharedPool {
    pool: Pool,
    location: String,
    /// The number of batches that this process has written.
    batches: AtomicU64,
}

impl PostgresDatabase {
    /// Connects once, so that a wrong address fails here and not at the first query.
    pub(crate) async fn open(url: &str, location: String) -> Result<Self, StoreError> {
        let pool = connect::build_pool(url, &location)?;
        let shared = SharedPool::new(pool, location);
        if let Err(failure) = shared.connection().await {
            return Err(failure.into_error(&shared.location));
        }
        let database = Self { shared: Arc::new(shared) };
        database.migrate(&COMPONENT).await?;
        Ok(database)
    }

    pub(crate) async fn migrate(&self, component: &SchemaComponent) -> Result<(), StoreError> {
        let mut retries = Retries::default();
        loop {
            match self.shared.migrate(component).await {
                Ok(()) => return Ok(()),
                Err(failure) => self.shared.pause_or_give_up(failure, &mut retries).await?,
            }
        }
    }

    pub(crate) async fn write(&self, batch: Batch) -> Result<Vec<u64>, StoreError> {
        let shared = self.shared.clone();
        // Runs as a separate task: a caller that stops waiting must not interrupt a transaction.
        let task = tokio::spawn(async move { shared.write_with_retries(&batch).await });
        task.await.map_err(|_| StoreError::Closed)?
    }

    pub(crate) async fn query(&self, statement: Statement) -> Result<Vec<Row>, StoreError> {
        let mut retries = Retries::default();
        loop {
            match self.shared.query(&statement).await {
                Ok(rows) => return Ok(rows),
                Err(failure) => self.shared.pause_or_give_up(failure, &mut retries).await?,
            }
        }
    }

    pub(crate) async fn fold<T, F>(
        &self,
        statement: Statement,
        state: T,
        mut step: F,
    ) -> Result<T, StoreError>
    where
        T: Clone + Send + 'static,
        F: FnMut(&mut T, &RowView<'_>) -> Result<(), StoreError> + Send + 'static,
    {
        let mut retries = Retries::default();
        loop {
            match self.shared.fold(&statement, state.clone(), &mut step).await {
                Ok(state) => return Ok(state),
                Err(failure) => self.shared.pause_or_give_up(failure, &mut retries).await?,
            }
        }
    }

    pub(crate) async fn vacuum(&self, tables: &[&'static str]) -> Result<(), StoreError> {
        let commands = tables.iter().map(|table| format!("VACUUM {table}"));
        self.run_long(commands).await
    }

    /// Writes the rows of tables to new files, and deletes the old ones. `VACUUM FULL` would take along
    /// replaced rows that any other session might still see.
    pub(crate) async fn rewrite(&self, tables: &[&'static str]) -> Result<(), StoreError> {
        // Statements that are sent together are one transaction.
        let commands = tables.iter().map(|table| {
            format!(
                "LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE; \
                 CREATE TEMP TABLE rewritten_rows ON COMMIT DROP AS SELECT * FROM {table}; \
                 TRUNCATE {table}; INSERT INTO {table} SELECT * FROM rewritten_rows"
            )
        });
        self.run_long(commands).await
    }

    async fn run_long(&self, commands: impl Iterator<Item = String>) -> Result<(), StoreError> {
        for command in commands {
            let vacuum = async {
                let connection = self.shared.connection().await?;
                // Takes as long as the table is large.
                connection.batch_execute("SET statement_timeout = 0").await?;
                connection.batch_execute(&command).await?;
                connection
                    .batch_execute("RESET statement_timeout")
                    .await
                    .map_err(FailedAttempt::from)
            };
            vacuum.await.map_err(|failure| failure.into_error(&self.shared.location))?;
        }
        Ok(())
    }

    pub(crate) async fn check_reachable(&self) -> Result<(), StoreError> {
        let statement = Statement::new("SELECT 1");
        let answer = self.shared.query(&statement).await.map(drop);
        answer.map_err(|failure| failure.into_error(&self.shared.location))
    }

    pub(crate) async fn close(&self) {
        if self.shared.batches.load(Ordering::Relaxed) > 0 {
            // The next process removes what this one leaves.
            let _ = tokio::time::timeout(CLEANUP_TIMEOUT, self.shared.remove_old_marks()).await;
        }
        self.shared.pool.close();
    }

    pub(crate) fn location(&self) -> &str {
        &self.shared.location
    }
}

/// Counts the time of an operation with all its attempts.
#[derive(Debug)]
struct Retries {
    start: Instant,
    last_pause: Duration,
}

impl Default for Retries {
    fn default() -> Self {
        Self { start: Instant::now(), last_pause: Duration::ZERO }
    }
}

impl Retries {
    /// Returns the pause before the next attempt; none if it is time to give up.
    fn next_pause(&mut self) -> Option<Duration> {
        self.last_pause = (self.last_pause * 2).clamp(FIRST_RETRY_INTERVAL, MAX_RETRY_INTERVAL);
        (self.start.elapsed() < RETRY_TIMEOUT).then_some(self.last_pause)
    }
}

/// Waits for an answer of the server, but not for ever.
async fn within<T>(
    answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, FailedAttempt> {
    match tokio::time::timeout(ANSWER_TIMEOUT, answer).await {
        Ok(answer) => answer.map_err(FailedAttempt::from),
        Err(_) => Err(FailedAttempt::silent(ANSWER_TIMEOUT)),
    }
}

impl SharedPool {
    fn new(pool: Pool, location: String) -> Self {
        Self { pool, location, batches: AtomicU64::new(0) }
    }

    async fn connection(&self) -> Result<Object, FailedAttempt> {
        self.pool.get().await.map_err(FailedAttempt::from)
    }

    /// Runs an operation on a connection, which is closed if it does not answer any more.
    async fn on_connection<T>(
        &self,
        operation: impl AsyncFnOnce(&Object) -> Result<T, FailedAttempt>,
    ) -> Result<T, FailedAttempt> {
        let connection = self.connection().await?;
        let result = operation(&connection).await;
        if result.as_ref().is_err_and(FailedAttempt::leaves_connection_unusable) {
            drop(Object::take(connection));
        }
        result
    }

    async fn query(&self, statement: &Statement) -> Result<Vec<Row>, FailedAttempt> {
        self.on_connection(async |connection| {
            let prepared = within(connection.prepare_cached(&statement.sql)).await?;
            let parameters = values::driver_parameters(statement);
            let rows = within(connection.query(&prepared, &parameters)).await?;
            let rows: Result<_, _> = rows.iter().map(values::convert_row).collect();
            rows.map_err(FailedAttempt::from)
        })
        .await
    }

    async fn fold<T, F>(
        &self,
        statement: &Statement,
        mut state: T,
        step: &mut F,
    ) -> Result<T, FailedAttempt>
    where
        F: FnMut(&mut T, &RowView<'_>) -> Result<(), StoreError>,
    {
        self.on_connection(async move |connection| {
            // Many rows take their time; each of them is waited for.
            within(connection.batch_execute("SET statement_timeout = 0")).await?;
            let prepared = within(connection.prepare_cached(&statement.sql)).await?;
            let rows = within(connection.query_raw(&prepared, &statement.values)).await?;
            let mut rows = std::pin::pin!(rows);
            while let Some(row) = within(rows.try_next()).await? {
                let view = RowView(ViewedRow::Postgres(&row));
                step(&mut state, &view).map_err(FailedAttempt::Final)?;
            }
            within(connection.batch_execute("RESET statement_timeout")).await?;
            Ok(state)
        })
        .await
    }

    async fn migrate(&self, component: &SchemaComponent) -> Result<(), FailedAttempt> {
        let mut connection = self.connection().await?;
        let found = match within(connection.query_opt(READ_VERSION, &[&component.name])).await {
            Ok(row) => row.map_or(0, |row| row.get(0)),
            Err(FailedAttempt::Refused(error))
                if error.code() == Some(&SqlState::UNDEFINED_TABLE) =>
            {
                0
            }
            Err(failure) => return Err(failure),
        };
        if component.pending_migrations(found).map_err(FailedAttempt::Final)?.is_empty() {
            return Ok(());
        }
        let transaction = connection.transaction().await?;
        // Another process may be migrating, and a large table takes its time.
        transaction
            .batch_execute("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '60s'")
            .await?;
        transaction.batch_execute(MIGRATION_LOCK).await?;
        transaction.batch_execute(CREATE_VERSIONS).await?;
        // Read again, because another process may have migrated before the lock was acquired.
        let row = transaction.query_opt(READ_VERSION, &[&component.name]).await?;
        let found = row.map_or(0, |row| row.get(0));
        let pending = component.pending_migrations(found).map_err(FailedAttempt::Final)?;
        for migration in pending {
            transaction.batch_execute(migration.postgres).await?;
        }
        if !pending.is_empty() {
            let known = i64::from(component.latest_version());
            transaction.execute(WRITE_VERSION, &[&component.name, &known]).await?;
        }
        transaction.commit().await.map_err(FailedAttempt::during_commit)
    }

    /// Waits before a retry, or returns the error if a retry is pointless.
    async fn pause_or_give_up(
        &self,
        failure: FailedAttempt,
        retries: &mut Retries,
    ) -> Result<(), StoreError> {
        if failure.may_be_repeated()
            && let Some(pause) = retries.next_pause()
        {
            tokio::time::sleep(pause).await;
            return Ok(());
        }
        Err(failure.into_error(&self.location))
    }
}
