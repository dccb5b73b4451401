//! Implements the PostgreSQL engine: a small connection pool, and retries after broken connections.

mod connect;
mod failure;
mod values;

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Object, Pool, Transaction};
use futures_util::TryStreamExt as _;
use futures_util::future::join_all;
use tokio_postgres::error::SqlState;

use crate::migration::{CREATE_VERSIONS, READ_VERSION, WRITE_VERSION};
use crate::row::ViewedRow;
use crate::{Batch, Row, RowView, SchemaComponent, Statement, StoreError};
use failure::FailedAttempt;

/// The pauses before retries when nothing can have been written. Together they outlast a restart of
/// the server.
const RETRY_INTERVALS: [Duration; 3] =
    [Duration::from_millis(100), Duration::from_secs(1), Duration::from_secs(3)];

/// An arbitrary number, but the same in every process of lango.
const MIGRATION_LOCK: &str = "SELECT pg_advisory_xact_lock(5497570813)";

/// Limits the statements of one batch that are sent without waiting for each other's answers. Up to
/// this number, `join_all` polls them in order.
const MAX_PIPELINE_COUNT: usize = 24;

pub(crate) struct PostgresDatabase {
    shared: Arc<SharedPool>,
}

struct SharedPool {
    pool: Pool,
    location: String,
}

impl PostgresDatabase {
    /// Connects once, so that a wrong address fails here and not at the first query.
    pub(crate) async fn open(url: &str, location: String) -> Result<Self, StoreError> {
        let pool = connect::build_pool(url, &location)?;
        let shared = SharedPool { pool, location };
        if let Err(failure) = shared.connection().await {
            return Err(failure.into_error(&shared.location));
        }
        Ok(Self { shared: Arc::new(shared) })
    }

    pub(crate) async fn migrate(&self, component: &SchemaComponent) -> Result<(), StoreError> {
        let mut pauses = RETRY_INTERVALS.iter();
        loop {
            match self.shared.migrate(component).await {
                Ok(()) => return Ok(()),
                Err(failure) => self.shared.pause_or_give_up(failure, &mut pauses).await?,
            }
        }
    }

    pub(crate) async fn write(&self, batch: Batch) -> Result<Vec<u64>, StoreError> {
        let shared = self.shared.clone();
        // Runs as a separate task: a caller that stops waiting must not interrupt a transaction.
        let task = tokio::spawn(async move {
            let mut pauses = RETRY_INTERVALS.iter();
            loop {
                match shared.write(&batch).await {
                    Ok(rows) => return Ok(rows),
                    Err(failure) => shared.pause_or_give_up(failure, &mut pauses).await?,
                }
            }
        });
        task.await.map_err(|_| StoreError::Closed)?
    }

    pub(crate) async fn query(&self, statement: Statement) -> Result<Vec<Row>, StoreError> {
        let mut pauses = RETRY_INTERVALS.iter();
        loop {
            match self.shared.query(&statement).await {
                Ok(rows) => return Ok(rows),
                Err(failure) => self.shared.pause_or_give_up(failure, &mut pauses).await?,
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
        let mut pauses = RETRY_INTERVALS.iter();
        loop {
            match self.shared.fold(&statement, state.clone(), &mut step).await {
                Ok(state) => return Ok(state),
                Err(failure) => self.shared.pause_or_give_up(failure, &mut pauses).await?,
            }
        }
    }

    pub(crate) async fn vacuum(&self, tables: &[&'static str]) -> Result<(), StoreError> {
        for table in tables {
            let vacuum = async {
                let connection = self.shared.connection().await?;
                connection
                    .batch_execute(&format!("VACUUM {table}"))
                    .await
                    .map_err(FailedAttempt::from)
            };
            vacuum.await.map_err(|failure| failure.into_error(&self.shared.location))?;
        }
        Ok(())
    }

    pub(crate) fn close(&self) {
        self.shared.pool.close();
    }

    pub(crate) fn location(&self) -> &str {
        &self.shared.location
    }
}

impl SharedPool {
    async fn connection(&self) -> Result<Object, FailedAttempt> {
        self.pool.get().await.map_err(FailedAttempt::from)
    }

    async fn query(&self, statement: &Statement) -> Result<Vec<Row>, FailedAttempt> {
        let connection = self.connection().await?;
        let prepared = connection.prepare_cached(&statement.sql).await?;
        let rows = connection.query(&prepared, &values::driver_parameters(statement)).await?;
        rows.iter().map(values::convert_row).collect::<Result<_, _>>().map_err(FailedAttempt::from)
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
        let connection = self.connection().await?;
        let prepared = connection.prepare_cached(&statement.sql).await?;
        let rows = connection.query_raw(&prepared, &statement.values).await?;
        let mut rows = std::pin::pin!(rows);
        while let Some(row) = rows.try_next().await? {
            step(&mut state, &RowView(ViewedRow::Postgres(&row))).map_err(FailedAttempt::Final)?;
        }
        Ok(state)
    }

    async fn write(&self, batch: &Batch) -> Result<Vec<u64>, FailedAttempt> {
        let mut connection = self.connection().await?;
        let transaction = connection.transaction().await?;
        let mut changed = Vec::with_capacity(batch.statements.len());
        for statements in batch.statements.chunks(MAX_PIPELINE_COUNT) {
            batch.check_cancelled().map_err(FailedAttempt::Final)?;
            let results = execute_all(&transaction, statements).await?;
            // The first failure is the cause; later ones only follow from it.
            for (statement, result) in statements.iter().zip(results) {
                let rows = result?;
                changed.push(statement.check(changed.len(), rows).map_err(FailedAttempt::Final)?);
            }
        }
        batch.check_cancelled().map_err(FailedAttempt::Final)?;
        transaction.commit().await.map_err(FailedAttempt::during_commit)?;
        Ok(changed)
    }

    async fn migrate(&self, component: &SchemaComponent) -> Result<(), FailedAttempt> {
        let mut connection = self.connection().await?;
        let found = match connection.query_opt(READ_VERSION, &[&component.name]).await {
            Ok(row) => row.map_or(0, |row| row.get(0)),
            Err(error) if error.code() == Some(&SqlState::UNDEFINED_TABLE) => 0,
            Err(error) => return Err(error.into()),
        };
        if component.pending_migrations(found).map_err(FailedAttempt::Final)?.is_empty() {
            return Ok(());
        }
        let transaction = connection.transaction().await?;
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
        pauses: &mut std::slice::Iter<'_, Duration>,
    ) -> Result<(), StoreError> {
        match pauses.next() {
            Some(pause) if failure.may_be_repeated() => {
                tokio::time::sleep(*pause).await;
                Ok(())
            }
            _ => Err(failure.into_error(&self.location)),
        }
    }
}

/// Sends all statements before awaiting the first answer, which saves a round trip for each.
async fn execute_all(
    transaction: &Transaction<'_>,
    statements: &[Statement],
) -> Result<Vec<Result<u64, tokio_postgres::Error>>, FailedAttempt> {
    let mut prepared = Vec::with_capacity(statements.len());
    for statement in statements {
        prepared.push(transaction.prepare_cached(&statement.sql).await?);
    }
    let executions = statements
        .iter()
        .zip(&prepared)
        .map(|(statement, prepared)| transaction.execute_raw(prepared, &statement.values));
    Ok(join_all(executions).await)
}
