//! Lists the content of the index.

use lango_store::{Row, Statement, StoreError};

use super::Retrieval;
use crate::{EntryKey, EntryKind, EntrySummary, NewPassage, RetrievalError, ids};

/// Describes the size of one collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectionSize {
    /// The collection.
    pub collection: String,
    /// Its entries.
    pub entries: u64,
    /// Their passages.
    pub passages: u64,
}

impl Retrieval {
    /// Returns the digest of an entry; `None` where it does not exist.
    pub async fn find_entry_digest(
        &self,
        key: &EntryKey,
    ) -> Result<Option<String>, RetrievalError> {
        let statement =
            Statement::new("SELECT digest FROM retrieval_entries WHERE scope = $1 AND key = $2")
                .bind(ids::entry_scope(&self.space, key))
                .bind(key.key.as_str());
        let rows = self.database.query(statement).await?;
        rows.first().map(|row| Ok(row.text(0)?.to_owned())).transpose()
    }

    /// Returns an entry; `None` where it does not exist.
    pub async fn find_entry(&self, key: &EntryKey) -> Result<Option<EntrySummary>, RetrievalError> {
        let statement = Statement::new(
            "SELECT space, collection, key, title, source, digest, passages, at \
             FROM retrieval_entries WHERE scope = $1 AND key = $2",
        );
        let statement = statement.bind(ids::entry_scope(&self.space, key)).bind(key.key.as_str());
        let rows = self.database.query(statement).await?;
        Ok(rows.first().map(read_summary).transpose()?.flatten())
    }

    /// Returns entries of a kind by collection and key, after the given one, at most `limit`.
    /// `collection` restricts them to one collection.
    pub async fn list_entries(
        &self,
        kind: EntryKind,
        collection: Option<&str>,
        after: Option<&EntryKey>,
        limit: u32,
    ) -> Result<Vec<EntrySummary>, RetrievalError> {
        let (after_collection, after_key) =
            after.map_or(("", ""), |key| (key.collection.as_str(), key.key.as_str()));
        let rows = self
            .database
            .query(
                Statement::new(
                    "SELECT space, collection, key, title, source, digest, passages, at \
                     FROM retrieval_entries WHERE space = $1 \
                     AND ($2 = '' OR collection = $2) \
                     AND (collection > $3 OR (collection = $3 AND key > $4)) \
                     AND client = $6 ORDER BY collection, key LIMIT $5",
                )
                .bind(kind.as_str())
                .bind(collection.unwrap_or(""))
                .bind(after_collection)
                .bind(after_key)
                .bind(limit)
                .bind(self.space.as_stored()),
            )
            .await?;
        let summaries: Result<Vec<Option<EntrySummary>>, StoreError> =
            rows.iter().map(read_summary).collect();
        Ok(summaries?.into_iter().flatten().collect())
    }

    /// Returns the passages of an entry, in order.
    pub async fn read_passages(&self, key: &EntryKey) -> Result<Vec<NewPassage>, RetrievalError> {
        let statement = Statement::new(
            "SELECT heading, body, position FROM retrieval_passages WHERE entry = \
             (SELECT id FROM retrieval_entries WHERE scope = $1 AND key = $2) ORDER BY number",
        );
        let statement = statement.bind(ids::entry_scope(&self.space, key)).bind(key.key.as_str());
        let rows = self.database.query(statement).await?;
        let passage = |row: &Row| {
            Ok(NewPassage {
                heading: row.text(0)?.to_owned(),
                text: row.text(1)?.to_owned(),
                position: row.text(2)?.to_owned(),
            })
        };
        rows.iter().map(passage).collect()
    }

    /// Tells whether there is no text of a kind.
    pub async fn is_empty(&self, kind: EntryKind) -> Result<bool, RetrievalError> {
        let statement = Statement::new(
            "SELECT 1 FROM retrieval_entries WHERE space = $1 AND client = $2 LIMIT 1",
        );
        let statement = statement.bind(kind.as_str()).bind(self.space.as_stored());
        Ok(self.database.query(statement).await?.is_empty())
    }

    /// Returns the collections of a kind.
    pub async fn list_collections(
        &self,
        kind: EntryKind,
    ) -> Result<Vec<CollectionSize>, RetrievalError> {
        let statement = Statement::new(
            "SELECT collection, COUNT(*), CAST(COALESCE(SUM(passages), 0) AS BIGINT) \
             FROM retrieval_entries WHERE space = $1 AND client = $2 \
             GROUP BY collection ORDER BY collection",
        );
        let statement = statement.bind(kind.as_str()).bind(self.space.as_stored());
        let rows = self.database.query(statement).await?;
        let size = |row: &Row| {
            Ok(CollectionSize {
                collection: row.text(0)?.to_owned(),
                entries: row.unsigned(1)?,
                passages: row.unsigned(2)?,
            })
        };
        rows.iter().map(size).collect()
    }
}

/// Reads a row of an entry; `None` for a kind of a newer version of the program.
fn read_summary(row: &Row) -> Result<Option<EntrySummary>, StoreError> {
    let Some(kind) = EntryKind::from_name(row.text(0)?) else { return Ok(None) };
    Ok(Some(EntrySummary {
        key: EntryKey::new(kind, row.text(1)?, row.text(2)?),
        title: row.text(3)?.to_owned(),
        source: row.text(4)?.to_owned(),
        digest: row.text(5)?.to_owned(),
        passages: row.unsigned(6)?,
        at: row.integer(7)?,
    }))
}
