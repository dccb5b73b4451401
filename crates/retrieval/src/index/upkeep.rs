//! Completes the vectors: after the model changed, or while it did not answer.

use lango_store::{Batch, Row, SqlDialect, Statement, StoreError};
use tokio_util::sync::CancellationToken;

use super::RetrievalIndex;
use super::write::embedded_text;
use crate::{EmbeddingPurpose, RetrievalError, vector};

/// Represents a passage without a vector.
struct MissingVector {
    passage: i64,
    scope: i64,
    text: String,
}

impl RetrievalIndex {
    /// Returns how many passages have no vector of the current model.
    pub async fn count_missing_vectors(&self) -> Result<u64, RetrievalError> {
        let Some(model) = self.model else { return Ok(0) };
        let statement = Statement::new(
            "SELECT (SELECT COUNT(*) FROM retrieval_passages) - \
             (SELECT COUNT(*) FROM retrieval_vectors WHERE model = $1)",
        );
        let rows = self.database.query(statement.bind(model)).await?;
        let missing = rows.first().map(|row| row.integer(0)).transpose()?.unwrap_or(0);
        Ok(u64::try_from(missing).unwrap_or(0))
    }

    /// Makes missing vectors, at most `limit` of them, and returns how many it made. `progress` is
    /// called after each step. It can be stopped and resumed at any time; vectors of other models
    /// are removed when none is missing any more.
    pub async fn embed_missing(
        &self,
        limit: u64,
        cancel: &CancellationToken,
        mut progress: impl FnMut(u64) + Send,
    ) -> Result<u64, RetrievalError> {
        let (Some(embedder), Some(model)) = (&self.embedder, self.model) else { return Ok(0) };
        let mut made = 0;
        let mut after = i64::MIN;
        loop {
            if cancel.is_cancelled() || made >= limit {
                return Ok(made);
            }
            let missing = self.list_missing_after(model, after, embedder.batch()).await?;
            let Some(last) = missing.last() else { break };
            after = last.passage;
            let texts: Vec<String> = missing.iter().map(|item| item.text.clone()).collect();
            let vectors = embedder.embed(&texts, EmbeddingPurpose::Passage).await?;
            let mut batch = Batch::with_capacity(missing.len());
            for (item, values) in missing.iter().zip(&vectors) {
                batch.push(
                    Statement::new(self.insert_vector())
                        .bind(model)
                        .bind(item.scope)
                        .bind(item.passage)
                        .bind(vector::to_bytes(values)),
                );
            }
            self.database.write(batch).await?;
            made += missing.len() as u64;
            progress(made);
        }
        let other = "DELETE FROM retrieval_vectors WHERE model IN \
                     (SELECT id FROM retrieval_models WHERE id <> $1)";
        let models = "DELETE FROM retrieval_models WHERE id <> $1";
        let batch = Batch::new()
            .with(Statement::new(other).bind(model))
            .with(Statement::new(models).bind(model));
        self.database.write(batch).await?;
        Ok(made)
    }

    async fn list_missing_after(
        &self,
        model: i64,
        after: i64,
        limit: usize,
    ) -> Result<Vec<MissingVector>, StoreError> {
        let statement = Statement::new(
            "SELECT p.id, p.scope, p.heading, p.body FROM retrieval_passages p \
             WHERE p.id > $1 AND NOT EXISTS (SELECT 1 FROM retrieval_vectors v \
             WHERE v.passage = p.id AND v.model = $2) \
             ORDER BY p.id LIMIT $3",
        );
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let rows = self.database.query(statement.bind(after).bind(model).bind(limit)).await?;
        let missing = |row: &Row| {
            Ok(MissingVector {
                passage: row.integer(0)?,
                scope: row.integer(1)?,
                text: embedded_text(row.text(2)?, row.text(3)?),
            })
        };
        rows.iter().map(missing).collect()
    }

    /// Writes a vector, unless its passage went away while it was made.
    fn insert_vector(&self) -> &'static str {
        match self.database.dialect() {
            SqlDialect::Sqlite => {
                "INSERT INTO retrieval_vectors (model, scope, passage, vector) \
                 SELECT $1, $2, $3, $4 \
                 WHERE EXISTS (SELECT 1 FROM retrieval_passages WHERE id = $3) \
                 ON CONFLICT (passage) DO UPDATE SET \
                 model = excluded.model, scope = excluded.scope, vector = excluded.vector"
            }
            SqlDialect::Postgres => {
                "INSERT INTO retrieval_vectors (model, scope, passage, vector) \
                 SELECT $1::BIGINT, $2::BIGINT, $3::BIGINT, $4::BYTEA \
                 WHERE EXISTS (SELECT 1 FROM retrieval_passages WHERE id = $3 FOR SHARE) \
                 ON CONFLICT (passage) DO UPDATE SET \
                 model = excluded.model, scope = excluded.scope, vector = excluded.vector"
            }
        }
    }
}
