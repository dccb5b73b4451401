//! Checks that the tables and indexes agree with each other.

use lango_store::{SqlDialect, Statement, StoreError};

use super::RetrievalIndex;
use crate::RetrievalError;

/// Describes a disagreement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexProblem {
    /// The disagreement, in words.
    pub what: String,
}

/// Lists statements that count rows that must not exist.
const FORBIDDEN_ROWS: &[(&str, &str)] = &[
    (
        "passages that belong to no entry",
        "SELECT COUNT(*) FROM retrieval_passages p WHERE NOT EXISTS \
         (SELECT 1 FROM retrieval_entries e WHERE e.id = p.entry)",
    ),
    (
        "entries that do not have all of their passages",
        "SELECT COUNT(*) FROM retrieval_entries e WHERE e.passages <> \
         (SELECT COUNT(*) FROM retrieval_passages p WHERE p.entry = e.id)",
    ),
    (
        "passages in another scope than their entry",
        "SELECT COUNT(*) FROM retrieval_passages p JOIN retrieval_entries e ON e.id = p.entry \
         WHERE p.scope <> e.scope",
    ),
    (
        "vectors of passages that are not there",
        "SELECT COUNT(*) FROM retrieval_vectors v WHERE NOT EXISTS \
         (SELECT 1 FROM retrieval_passages p WHERE p.id = v.passage AND p.scope = v.scope)",
    ),
    (
        "vectors of an unknown model",
        "SELECT COUNT(*) FROM retrieval_vectors v WHERE NOT EXISTS \
         (SELECT 1 FROM retrieval_models m WHERE m.id = v.model)",
    ),
];

/// Counts the same for the words of PostgreSQL, which are a column of their passage.
const STALE_WORDS_POSTGRES: &str = "SELECT COUNT(*) FROM retrieval_passages \
     WHERE words <> lango_words(heading, body, extra)";

impl RetrievalIndex {
    /// Reads everything and says what does not agree. Vectors that are missing are none of it: they
    /// are made when there is time.
    pub async fn check(&self) -> Result<Vec<IndexProblem>, RetrievalError> {
        let mut problems = Vec::new();
        for (what, sql) in FORBIDDEN_ROWS {
            let count = self.count(sql).await?;
            if count > 0 {
                problems.push(IndexProblem { what: format!("{count} {what}") });
            }
        }
        match self.database.dialect() {
            SqlDialect::Sqlite => {
                // With a rank of 1 it compares the index with the texts, and fails if they differ.
                let check = "INSERT INTO retrieval_words (retrieval_words, rank) \
                             VALUES ('integrity-check', 1)";
                match self.database.write(Statement::new(check).into()).await {
                    Ok(_) => {}
                    Err(StoreError::Corrupt { reason, .. } | StoreError::Query { reason }) => {
                        let what = format!("the full-text index differs from the texts: {reason}");
                        problems.push(IndexProblem { what });
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            SqlDialect::Postgres => {
                let count = self.count(STALE_WORDS_POSTGRES).await?;
                if count > 0 {
                    let what = format!("{count} passages whose words differ from their text");
                    problems.push(IndexProblem { what });
                }
            }
        }
        Ok(problems)
    }

    async fn count(&self, sql: &'static str) -> Result<u64, StoreError> {
        let rows = self.database.query(Statement::new(sql)).await?;
        rows.first().map_or(Ok(0), |row| row.unsigned(0))
    }
}
