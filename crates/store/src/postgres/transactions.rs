//! Writes batches, each with a mark that tells later whether it was committed.

use std::sync::atomic::Ordering;

use deadpool_postgres::Object;
use futures_util::future::{join, join_all};
use uuid::Uuid;

use super::failure::FailedAttempt;
use super::{CLEANUP_INTERVAL_BATCHES, Retries, SharedPool, within};
use crate::{Batch, Statement, StoreError};

/// Limits the statements of one batch that are sent without waiting for each other's answers. Up to
/// this number, `join_all` polls them in order.
const MAX_PIPELINE_COUNT: usize = 24;

const INSERT_MARK: &str = "INSERT INTO store_batches (id, changed) VALUES ($1, $2)";

const READ_MARK: &str = "SELECT changed FROM store_batches WHERE id = $1";

/// Far longer than a batch is retried.
const REMOVE_OLD_MARKS: &str = "DELETE FROM store_batches WHERE at < now() - INTERVAL '10 minutes'";

impl SharedPool {
    /// Writes a batch once, however often the connection breaks.
    ///
    /// If it breaks during the commit, the mark says whether the batch was committed. Without a
    /// mark the batch is written again, under the same mark: should the first commit still be on
    /// its way, one of the two is refused, and the mark of the other is found.
    pub(super) async fn write_with_retries(&self, batch: &Batch) -> Result<Vec<u64>, StoreError> {
        let mark = Uuid::new_v4().to_string();
        let mut retries = Retries::default();
        let mut unknown_outcome = None;
        loop {
            let failure = match self.write(batch, &mark).await {
                Ok(rows) => {
                    self.count_batch().await;
                    return Ok(rows);
                }
                Err(failure) => failure,
            };
            if let FailedAttempt::Commit(reason) = &failure {
                tracing::warn!(reason, "a commit was cut off; its outcome is read back");
                unknown_outcome = Some(reason.clone());
            }
            let Some(reason) = &unknown_outcome else {
                self.pause_or_give_up(failure, &mut retries).await?;
                continue;
            };
            let unknown = || FailedAttempt::Commit(reason.clone()).into_error(&self.location);
            match self.read_mark(&mark, &mut retries).await {
                Ok(Some(rows)) => return Ok(rows),
                Ok(None) if failure.may_be_repeated() => {
                    let Some(pause) = retries.next_pause() else { return Err(unknown()) };
                    tokio::time::sleep(pause).await;
                }
                // The server refused the second attempt, so the first one was not committed.
                Ok(None) => return Err(failure.into_error(&self.location)),
                Err(_) => return Err(unknown()),
            }
        }
    }

    async fn read_mark(
        &self,
        mark: &str,
        retries: &mut Retries,
    ) -> Result<Option<Vec<u64>>, StoreError> {
        let statement = Statement::new(READ_MARK).bind(mark);
        loop {
            match self.query(&statement).await {
                Ok(rows) => return rows.first().map(|row| parse_counts(row.text(0)?)).transpose(),
                Err(failure) => self.pause_or_give_up(failure, retries).await?,
            }
        }
    }

    async fn write(&self, batch: &Batch, mark: &str) -> Result<Vec<u64>, FailedAttempt> {
        self.on_connection(async |connection| {
            let written = write_transaction(connection, batch, mark).await;
            if let Err(failure) = &written
                && !failure.leaves_connection_unusable()
            {
                within(connection.batch_execute("ROLLBACK")).await?;
            }
            written
        })
        .await
    }

    /// Removes old marks from time to time.
    async fn count_batch(&self) {
        let count = self.batches.fetch_add(1, Ordering::Relaxed) + 1;
        if count.is_multiple_of(CLEANUP_INTERVAL_BATCHES)
            && let Err(failure) = self.remove_old_marks().await
        {
            let error = failure.into_error(&self.location);
            tracing::debug!(%error, "old marks of batches were not removed");
        }
    }

    pub(super) async fn remove_old_marks(&self) -> Result<(), FailedAttempt> {
        self.on_connection(async |connection| {
            within(connection.batch_execute(REMOVE_OLD_MARKS)).await
        })
        .await
    }
}

async fn write_transaction(
    connection: &Object,
    batch: &Batch,
    mark: &str,
) -> Result<Vec<u64>, FailedAttempt> {
    let mut changed = Vec::with_capacity(batch.statements.len());
    let mut begun = false;
    for statements in batch.statements.chunks(MAX_PIPELINE_COUNT) {
        batch.check_cancelled().map_err(FailedAttempt::Final)?;
        let results = execute_all(connection, statements, !begun).await?;
        begun = true;
        // The first failure is the cause; later ones only follow from it.
        for (statement, result) in statements.iter().zip(results) {
            let rows = result?;
            changed.push(statement.check(changed.len(), rows).map_err(FailedAttempt::Final)?);
        }
    }
    if !begun {
        return Ok(changed);
    }
    batch.check_cancelled().map_err(FailedAttempt::Final)?;
    let prepared = within(connection.prepare_cached(INSERT_MARK)).await?;
    let counts = render_counts(&changed);
    // The mark and the commit travel together. If the mark is refused, the commit undoes everything.
    let mark = async { Ok(connection.execute(&prepared, &[&mark, &counts]).await) };
    let commit = async { Ok(connection.batch_execute("COMMIT").await) };
    let both = async {
        let (marked, committed) = join(mark, commit).await;
        Ok((marked?, committed?))
    };
    let (marked, committed) = within(both).await.map_err(FailedAttempt::into_unknown_outcome)?;
    marked.map_err(FailedAttempt::during_commit)?;
    committed.map_err(FailedAttempt::during_commit)?;
    Ok(changed)
}

/// Sends all statements before awaiting the first answer, which saves a round trip for each.
async fn execute_all(
    connection: &Object,
    statements: &[Statement],
    begins: bool,
) -> Result<Vec<Result<u64, tokio_postgres::Error>>, FailedAttempt> {
    let mut prepared = Vec::with_capacity(statements.len());
    for statement in statements {
        prepared.push(within(connection.prepare_cached(&statement.sql)).await?);
    }
    let begin = async { if begins { connection.batch_execute("BEGIN").await } else { Ok(()) } };
    let executions = statements
        .iter()
        .zip(&prepared)
        .map(|(statement, prepared)| connection.execute_raw(prepared, &statement.values));
    within(async {
        let (started, results) = join(begin, join_all(executions)).await;
        started.map(|()| results)
    })
    .await
}

fn render_counts(changed: &[u64]) -> String {
    let counts: Vec<String> = changed.iter().map(u64::to_string).collect();
    counts.join(",")
}

fn parse_counts(text: &str) -> Result<Vec<u64>, StoreError> {
    let counts = text.split(',').filter(|count| !count.is_empty());
    counts.map(|count| count.parse().map_err(|error| StoreError::query(&error))).collect()
}
