//! Finds passages by their meaning.

use lango_store::{RowView, SqlDialect, Statement, StoreError};

use super::{Retrieval, SearchHit};
use crate::vector::{NearestVectors, QueryVector};
use crate::{EmbeddingPurpose, EntryKey, EntryKind, RetrievalError, ids};

impl Retrieval {
    /// Returns the statement that reads the vectors of a scope. Most rows are documents, which are
    /// read in the order of the table; for the others, the index finds the few.
    fn vectors_statement(&self, kind: EntryKind) -> &'static str {
        match (self.database.dialect(), kind) {
            (SqlDialect::Sqlite, EntryKind::Documents) => {
                "SELECT passage, vector FROM retrieval_vectors NOT INDEXED \
                 WHERE model = $1 AND scope = $2"
            }
            _ => "SELECT passage, vector FROM retrieval_vectors WHERE model = $1 AND scope = $2",
        }
    }

    /// Returns the nearest passages with their similarity.
    pub(super) async fn find_by_meaning(
        &self,
        text: &str,
        kind: EntryKind,
        scopes: &[i64],
        max_hits: usize,
    ) -> Result<Vec<(i64, f32)>, RetrievalError> {
        let Some(model) = self.model else { return Err(RetrievalError::NoEmbedder) };
        let vector = self.query_vector(text).await?;
        let mut nearest = NearestVectors::new(QueryVector::new(&vector), max_hits);
        for scope in scopes {
            let statement = Statement::new(self.vectors_statement(kind));
            let statement = statement.bind(model).bind(*scope);
            nearest = self
                .database
                .fold(statement, nearest, |nearest: &mut NearestVectors, row| {
                    nearest.add_candidate(row.integer(0)?, row.blob(1)?)
                })
                .await?;
        }
        Ok(nearest.into_ranked())
    }

    /// Returns the passage of one entry that fits a query best; `None` where the entry does not
    /// exist.
    pub async fn find_best_passage(
        &self,
        key: &EntryKey,
        text: &str,
    ) -> Result<Option<SearchHit>, RetrievalError> {
        let statement = Statement::new(
            "SELECT p.id, v.vector FROM retrieval_passages p JOIN retrieval_vectors v \
             ON v.passage = p.id AND v.model = $3 \
             WHERE p.entry = (SELECT id FROM retrieval_entries WHERE scope = $1 AND key = $2)",
        );
        let statement = statement.bind(ids::entry_scope(&self.space, key)).bind(key.key.as_str());
        let best = match (self.model, self.query_vector(text).await) {
            (Some(model), Ok(vector)) => {
                let nearest = NearestVectors::new(QueryVector::new(&vector), 1);
                let see = |nearest: &mut NearestVectors, row: &RowView<'_>| {
                    nearest.add_candidate(row.integer(0)?, row.blob(1)?)
                };
                let nearest = self.database.fold(statement.bind(model), nearest, see).await?;
                nearest.into_ranked().first().copied()
            }
            // Without a model, the first passage describes the entry best.
            _ => None,
        };
        let similarity = best.map(|(_, similarity)| similarity);
        let passage = match best {
            Some((passage, _)) => Some(passage),
            None => self.find_first_passage(key).await?,
        };
        let Some(passage) = passage else { return Ok(None) };
        let mut hits = self.load(&[(passage, 0.0)]).await?;
        Ok(hits.pop().map(|(_, hit)| SearchHit { similarity, ..hit }))
    }

    async fn find_first_passage(&self, key: &EntryKey) -> Result<Option<i64>, StoreError> {
        let first = Statement::new(
            "SELECT id FROM retrieval_passages WHERE entry = \
             (SELECT id FROM retrieval_entries WHERE scope = $1 AND key = $2) \
             ORDER BY number LIMIT 1",
        );
        let first = first.bind(ids::entry_scope(&self.space, key)).bind(key.key.as_str());
        self.database.query(first).await?.first().map(|row| row.integer(0)).transpose()
    }

    /// Returns the vector of a query.
    pub async fn query_vector(&self, text: &str) -> Result<Vec<f32>, RetrievalError> {
        if let Some(vector) = self.find_cached_vector(text) {
            return Ok(vector);
        }
        let Some(embedder) = &self.embedder else { return Err(RetrievalError::NoEmbedder) };
        let vectors = embedder.embed(&[text.to_owned()], EmbeddingPurpose::Query).await?;
        let vector = vectors.into_iter().next().unwrap_or_default();
        self.cache_vector(text, &vector);
        Ok(vector)
    }
}
