//! Lists and removes knowledge.

use lango_protocol::Timestamp;
use lango_store::{Batch, Row, Statement, StoreError};
use serde::Serialize;

use super::save::{entry_key, fold_key};
use super::{COLUMNS, Knowledge, KnowledgeCategory, KnowledgeVersion};
use crate::LibrarianError;

/// Represents a key in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct KnowledgeSummary {
    /// The key.
    pub key: String,
    /// Its newest version.
    pub version: i64,
    /// The category.
    pub category: String,
    /// The text.
    pub content: String,
    /// The author.
    pub by: String,
    /// The time of recording.
    pub recorded_at: Timestamp,
}

impl Knowledge {
    /// Returns the newest versions, by key, after the given key.
    pub async fn list(
        &self,
        category: Option<KnowledgeCategory>,
        after: &str,
        limit: u32,
    ) -> Result<Vec<KnowledgeSummary>, LibrarianError> {
        let statement = Statement::new(
            "SELECT k.key, k.version, k.category, k.content, k.author, k.recorded_at \
             FROM knowledge_versions k JOIN (SELECT folded, MAX(version) AS version \
             FROM knowledge_versions WHERE client = $4 GROUP BY folded) newest \
             ON newest.folded = k.folded AND newest.version = k.version \
             WHERE k.client = $4 AND k.folded > $1 AND ($2 = '' OR k.category = $2) ORDER BY k.folded LIMIT $3",
        )
        .bind(fold_key(after))
        .bind(category.map_or("", KnowledgeCategory::as_str))
        .bind(limit)
        .bind(self.client());
        let summary = |row: &Row| {
            Ok(KnowledgeSummary {
                key: row.text(0)?.to_owned(),
                version: row.integer(1)?,
                category: row.text(2)?.to_owned(),
                content: row.text(3)?.to_owned(),
                by: row.text(4)?.to_owned(),
                recorded_at: Timestamp::from_microseconds(row.integer(5)?),
            })
        };
        let rows = self.database().query(statement).await?;
        let summaries: Result<Vec<_>, StoreError> = rows.iter().map(summary).collect();
        Ok(summaries?)
    }

    /// Returns all versions of a key, the newest first.
    pub async fn list_versions(&self, key: &str) -> Result<Vec<KnowledgeVersion>, LibrarianError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM knowledge_versions WHERE folded = $1 AND client = $2 \
             ORDER BY version DESC"
        );
        let statement = Statement::new(sql).bind(fold_key(key)).bind(self.client());
        let rows = self.database().query(statement).await?;
        Ok(rows.iter().map(KnowledgeVersion::read).collect::<Result<_, _>>()?)
    }

    /// Removes a key with all its versions. Returns false if there is none.
    pub async fn remove(&self, key: &str) -> Result<bool, LibrarianError> {
        let mut batch = Batch::new();
        batch.push(
            Statement::new("DELETE FROM knowledge_versions WHERE folded = $1 AND client = $2")
                .bind(fold_key(key))
                .bind(self.client()),
        );
        for category in KnowledgeCategory::ALL {
            let removal = self.retrieval.build_removal(&entry_key(category, key));
            for statement in removal {
                batch.push(statement);
            }
        }
        let changed = self.database().write(batch).await?;
        Ok(changed.first().is_some_and(|rows| *rows > 0))
    }
}
