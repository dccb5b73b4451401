//! Finds passages by their meaning.

use lango_store::{Dialect, RowView, Statement, StoreError};

use super::{Retrieval, SearchHit};
use crate::vector::{Nearest, Query};
use crate::{EntryKey, Purpose, RetrievalError, Space, ids};

impl Retrieval {
    /// Returns the statement that reads the vectors of a scope. Most rows are documents, which are
    /// read in the order of the table; for the others, the index finds the few.
    fn vectors_of(&self, space: Space) -> &'static str {
        match (self.database.dialect(), space) {
            (Dialect::Sqlite, Space::Documents) => {
                "SELECT passage, vector FROM retrieval_vectors NOT INDEXED \
                 WHERE model = $1 AND scope = $2"
            }
            _ => "SELECT passage, vector FROM retrieval_vectors WHERE model = $1 AND scope = $2",
        }
    }

    /// Returns the nearest passages with their similarity.
    pub(super) async fn by_meaning(
        &self,
        text: &str,
        space: Space,
        scopes: &[i64],
        max_hits: usize,
    ) -> Result<Vec<(i64, f32)>, RetrievalError> {
        let Some(model) = self.model else { return Err(RetrievalError::NoEmbedder) };
        let vector = self.query_vector(text).await?;
        let mut nearest = Nearest::new(Query::new(&vector), max_hits);
        for scope in scopes {
            let statement = Statement::new(self.vectors_of(space));
            let statement = statement.bind(model).bind(*scope);
            nearest = self
                .database
                .fold(statement, nearest, |nearest: &mut Nearest, row| {
                    nearest.see(row.integer(0)?, row.blob(1)?)
                })
                .await?;
        }
        Ok(nearest.ranked())
    }

    /// Returns the passage of one entry that fits a query best; `None` where the entry does not
    /// exist.
    pub async fn best_passage(
        &self,
        key: &EntryKey,
        text: &str,
    ) -> Result<Option<SearchHit>, RetrievalError> {
        let statement = Statement::new(
            "SELECT p.id, v.vector FROM retrieval_passages p JOIN retrieval_vectors v \
             ON v.passage = p.id AND v.model = $3 \
             WHERE p.entry = (SELECT id FROM retrieval_entries WHERE scope = $1 AND key = $2)",
        );
        let statement = statement.bind(ids::scope_of(key)).bind(key.key.as_str());
        let best = match (self.model, self.query_vector(text).await) {
            (Some(model), Ok(vector)) => {
                let nearest = Nearest::new(Query::new(&vector), 1);
                let see = |nearest: &mut Nearest, row: &RowView<'_>| {
                    nearest.see(row.integer(0)?, row.blob(1)?)
                };
                let nearest = self.database.fold(statement.bind(model), nearest, see).await?;
                nearest.ranked().first().copied()
            }
            // Without a model, the first passage describes the entry best.
            _ => None,
        };
        let similarity = best.map(|(_, similarity)| similarity);
        let passage = match best {
            Some((passage, _)) => Some(passage),
            None => self.first_passage(key).await?,
        };
        let Some(passage) = passage else { return Ok(None) };
        let mut hits = self.load(&[(passage, 0.0)]).await?;
        Ok(hits.pop().map(|(_, hit)| SearchHit { similarity, ..hit }))
    }

    async fn first_passage(&self, key: &EntryKey) -> Result<Option<i64>, StoreError> {
        let first = Statement::new(
            "SELECT id FROM retrieval_passages WHERE entry = \
             (SELECT id FROM retrieval_entries WHERE scope = $1 AND key = $2) \
             ORDER BY number LIMIT 1",
        );
        let first = first.bind(ids::scope_of(key)).bind(key.key.as_str());
        self.database.query(first).await?.first().map(|row| row.integer(0)).transpose()
    }

    /// Returns the vector of a query.
    pub async fn query_vector(&self, text: &str) -> Result<Vec<f32>, RetrievalError> {
        if let Some(vector) = self.remembered(text) {
            return Ok(vector);
        }
        let Some(embedder) = &self.embedder else { return Err(RetrievalError::NoEmbedder) };
        let vectors = embedder.embed(&[text.to_owned()], Purpose::Query).await?;
        let vector = vectors.into_iter().next().unwrap_or_default();
        self.remember(text, &vector);
        Ok(vector)
    }
}
