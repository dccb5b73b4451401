//! Stores and removes entries, each in one transaction.

use std::collections::HashMap;

use lango_protocol::Timestamp;
use lango_store::{Batch, Durability, SqlDialect, Statement, StoreError};
use tokio_util::sync::CancellationToken;

use super::Retrieval;
use crate::{
    EmbeddingPurpose, EntryKey, NewEntry, NewPassage, PutOutcome, RetrievalError, ids, query,
    vector,
};

/// Represents an entry with its vectors, ready to be written together with other data.
#[derive(Debug, Clone)]
pub struct PreparedEntry {
    statements: Vec<Statement>,
    /// The expected outcome, as far as it can be foreseen.
    pub put: PutOutcome,
}

impl PreparedEntry {
    /// Returns the statements that write it, for a batch that the caller writes; empty if the entry
    /// is already stored.
    pub fn into_statements(self) -> Vec<Statement> {
        self.statements
    }
}

impl Retrieval {
    /// Stores an entry and replaces one with the same key. It is found as a whole or, where this
    /// fails, not at all. Where the embedding model does not answer, the entry is found by its
    /// words, and [`RetrievalIndex::embed_missing`](super::RetrievalIndex::embed_missing) adds the vectors later.
    pub async fn put_entry(&self, entry: &NewEntry) -> Result<PutOutcome, RetrievalError> {
        self.put_entry_unless_cancelled(entry, &CancellationToken::new()).await
    }

    /// Does the same, but ends with [`RetrievalError::Cancelled`] soon after the token is cancelled.
    /// Nothing has changed then.
    pub async fn put_entry_unless_cancelled(
        &self,
        entry: &NewEntry,
        cancel: &CancellationToken,
    ) -> Result<PutOutcome, RetrievalError> {
        let prepared = self.prepare_unless_cancelled(entry, cancel).await?;
        let put = prepared.put;
        if put != PutOutcome::Unchanged {
            // One of many of an ingest, which can be repeated; the end of the command syncs it.
            let mut batch = Batch::with_capacity(prepared.statements.len())
                .cancelled_by(cancel)
                .durability(Durability::ProcessCrash);
            prepared.statements.into_iter().for_each(|statement| batch.push(statement));
            self.database.write(batch).await.map_err(|error| match error {
                StoreError::Cancelled => RetrievalError::Cancelled,
                error => error.into(),
            })?;
        }
        Ok(put)
    }

    /// Does everything but write.
    pub async fn prepare(&self, entry: &NewEntry) -> Result<PreparedEntry, RetrievalError> {
        self.prepare_unless_cancelled(entry, &CancellationToken::new()).await
    }

    async fn prepare_unless_cancelled(
        &self,
        entry: &NewEntry,
        cancel: &CancellationToken,
    ) -> Result<PreparedEntry, RetrievalError> {
        let there = self.find_entry_digest(&entry.key).await?;
        let put = match &there {
            Some(digest) if *digest == remove_nul(&entry.digest) => {
                return Ok(PreparedEntry { statements: Vec::new(), put: PutOutcome::Unchanged });
            }
            Some(_) => PutOutcome::Replaced,
            None => PutOutcome::Added,
        };
        let passages: Vec<NewPassage> = entry.passages.iter().map(clean_passage).collect();
        let known = if put == PutOutcome::Replaced {
            self.read_known_vectors(&entry.key).await?
        } else {
            HashMap::new()
        };
        // Dropping the future stops the embedding after the texts that are being embedded.
        let vectors = tokio::select! {
            () = cancel.cancelled() => return Err(RetrievalError::Cancelled),
            vectors = self.compute_vectors(&entry.title, &passages, known) => vectors?,
        };
        let mut statements = self.build_removal(&entry.key);
        statements.extend(self.build_insertion(entry, &passages, &vectors));
        Ok(PreparedEntry { statements, put })
    }

    /// Takes an entry out. False where there was none.
    pub async fn remove(&self, key: &EntryKey) -> Result<bool, RetrievalError> {
        let mut batch = Batch::new();
        self.build_removal(key).into_iter().for_each(|statement| batch.push(statement));
        let changed = self.database.write(batch).await?;
        Ok(changed.last().is_some_and(|rows| *rows > 0))
    }

    /// Returns the statements that remove an entry, for a batch that the caller writes. The last
    /// one changes a row if there was an entry.
    pub fn build_removal(&self, key: &EntryKey) -> Vec<Statement> {
        let scope = ids::entry_scope(&self.space, key);
        let of_entry = |sql: &'static str| Statement::new(sql).bind(scope).bind(key.key.as_str());
        let mut statements = Vec::with_capacity(4);
        if self.database.dialect() == SqlDialect::Sqlite {
            // The index has no copy of the text, so the deletion needs it.
            statements.push(of_entry(
                "INSERT INTO retrieval_words \
                 (retrieval_words, rowid, scope_word, heading, body, extra) \
                 SELECT 'delete', id, scope_word, heading, body, extra FROM retrieval_passages \
                 WHERE entry = (SELECT id FROM retrieval_entries WHERE scope = $1 AND key = $2)",
            ));
        }
        statements.push(of_entry(
            "DELETE FROM retrieval_vectors WHERE passage IN (SELECT id FROM retrieval_passages WHERE entry = \
             (SELECT id FROM retrieval_entries WHERE scope = $1 AND key = $2))",
        ));
        statements.push(of_entry(
            "DELETE FROM retrieval_passages WHERE entry = \
             (SELECT id FROM retrieval_entries WHERE scope = $1 AND key = $2)",
        ));
        statements.push(of_entry("DELETE FROM retrieval_entries WHERE scope = $1 AND key = $2"));
        statements
    }

    /// Returns the statements that remove all entries of this space, for a batch that the caller
    /// writes.
    pub fn build_space_removal(&self) -> Vec<Statement> {
        let of_space = |sql: &'static str| Statement::new(sql).bind(self.space.as_stored());
        let mut statements = Vec::with_capacity(4);
        if self.database.dialect() == SqlDialect::Sqlite {
            statements.push(of_space(
                "INSERT INTO retrieval_words \
                 (retrieval_words, rowid, scope_word, heading, body, extra) \
                 SELECT 'delete', id, scope_word, heading, body, extra FROM retrieval_passages \
                 WHERE entry IN (SELECT id FROM retrieval_entries WHERE client = $1)",
            ));
        }
        statements.push(of_space(
            "DELETE FROM retrieval_vectors WHERE passage IN (SELECT id FROM retrieval_passages \
             WHERE entry IN (SELECT id FROM retrieval_entries WHERE client = $1))",
        ));
        statements.push(of_space(
            "DELETE FROM retrieval_passages WHERE entry IN \
             (SELECT id FROM retrieval_entries WHERE client = $1)",
        ));
        statements.push(of_space("DELETE FROM retrieval_entries WHERE client = $1"));
        statements
    }

    fn build_insertion(
        &self,
        entry: &NewEntry,
        passages: &[NewPassage],
        vectors: &[Option<Vec<u8>>],
    ) -> Vec<Statement> {
        let scope = ids::entry_scope(&self.space, &entry.key);
        let id = ids::new_id();
        let mut statements = Vec::with_capacity(1 + 3 * passages.len());
        statements.push(
            Statement::new(
                "INSERT INTO retrieval_entries \
                 (id, scope, space, collection, key, title, source, digest, passages, at, client) \
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
            )
            .bind(id)
            .bind(scope)
            .bind(entry.key.kind.as_str())
            .bind(entry.key.collection.as_str())
            .bind(entry.key.key.as_str())
            .bind(remove_nul(&entry.title))
            .bind(remove_nul(&entry.source))
            .bind(remove_nul(&entry.digest))
            .bind(i64::try_from(passages.len()).unwrap_or(i64::MAX))
            .bind(Timestamp::now().as_microseconds())
            .bind(self.space.as_stored()),
        );
        for (number, (passage, vector)) in (0_i64..).zip(passages.iter().zip(vectors)) {
            let passage_id = ids::new_id();
            let heading = join_heading(&entry.title, &passage.heading);
            let extra = query::extra_terms(&format!("{heading} {}", passage.text));
            let row = |sql: &'static str| {
                Statement::new(sql)
                    .bind(passage_id)
                    .bind(scope_term(scope))
                    .bind(heading.as_str())
                    .bind(passage.text.as_str())
                    .bind(extra.as_str())
            };
            let sqlite = self.database.dialect() == SqlDialect::Sqlite;
            let insert = if sqlite { INSERT_PASSAGE_SQLITE } else { INSERT_PASSAGE_POSTGRES };
            statements.push(
                row(insert).bind(id).bind(scope).bind(number).bind(passage.position.as_str()),
            );
            if sqlite {
                statements.push(row("INSERT INTO retrieval_words \
                     (rowid, scope_word, heading, body, extra) VALUES ($1, $2, $3, $4, $5)"));
            }
            if let (Some(vector), Some(model)) = (vector, self.model) {
                statements.push(
                    Statement::new(
                        "INSERT INTO retrieval_vectors (model, scope, passage, vector) \
                         VALUES ($1, $2, $3, $4)",
                    )
                    .bind(model)
                    .bind(scope)
                    .bind(passage_id)
                    .bind(vector.clone()),
                );
            }
        }
        statements
    }

    /// Returns the vectors of passages: those that the entry already had, and new ones for the
    /// rest; `None` without a model, or while it does not answer.
    async fn compute_vectors(
        &self,
        title: &str,
        passages: &[NewPassage],
        mut known: HashMap<String, Vec<u8>>,
    ) -> Result<Vec<Option<Vec<u8>>>, RetrievalError> {
        let Some(embedder) = &self.embedder else { return Ok(vec![None; passages.len()]) };
        let texts: Vec<String> = passages
            .iter()
            .map(|passage| embedded_text(&join_heading(title, &passage.heading), &passage.text))
            .collect();
        let mut missing: Vec<String> =
            texts.iter().filter(|text| !known.contains_key(*text)).cloned().collect();
        missing.sort();
        missing.dedup();
        for batch in missing.chunks(embedder.batch()) {
            match embedder.embed(batch, EmbeddingPurpose::Passage).await {
                Ok(vectors) => {
                    let stored = vectors.iter().map(|values| vector::to_bytes(values));
                    known.extend(batch.iter().cloned().zip(stored));
                }
                Err(error) => {
                    self.note_failure(error);
                    break;
                }
            }
        }
        Ok(texts.iter().map(|text| known.get(text).cloned()).collect())
    }

    /// Returns the vectors that an entry has, by the text they were made of.
    async fn read_known_vectors(
        &self,
        key: &EntryKey,
    ) -> Result<HashMap<String, Vec<u8>>, StoreError> {
        let Some(model) = self.model else { return Ok(HashMap::new()) };
        let rows = self
            .database
            .query(
                Statement::new(
                    "SELECT p.heading, p.body, v.vector FROM retrieval_passages p \
                     JOIN retrieval_vectors v ON v.passage = p.id AND v.model = $3 \
                     WHERE p.entry = \
                     (SELECT id FROM retrieval_entries WHERE scope = $1 AND key = $2)",
                )
                .bind(ids::entry_scope(&self.space, key))
                .bind(key.key.as_str())
                .bind(model),
            )
            .await?;
        rows.iter()
            .map(|row| Ok((embedded_text(row.text(0)?, row.text(1)?), row.blob(2)?.to_vec())))
            .collect()
    }
}

const INSERT_PASSAGE_SQLITE: &str = "INSERT INTO retrieval_passages \
     (id, scope_word, heading, body, extra, entry, scope, number, position) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)";

const INSERT_PASSAGE_POSTGRES: &str = "INSERT INTO retrieval_passages \
     (id, scope_word, heading, body, extra, entry, scope, number, position, words) \
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, lango_words($3, $4, $5))";

/// Returns the term that stands for a scope in the full-text index.
pub(super) fn scope_term(scope: i64) -> String {
    format!("s{scope:x}")
}

/// Returns the text of a passage that a model embeds.
pub(super) fn embedded_text(heading: &str, text: &str) -> String {
    if heading.is_empty() { text.to_owned() } else { format!("{heading}\n{text}") }
}

fn join_heading(title: &str, heading: &str) -> String {
    let title = remove_nul(title);
    match (title.is_empty(), heading.is_empty()) {
        (_, true) => title,
        (true, false) => heading.to_owned(),
        (false, false) => format!("{title} > {heading}"),
    }
}

fn clean_passage(passage: &NewPassage) -> NewPassage {
    NewPassage {
        heading: remove_nul(&passage.heading),
        text: remove_nul(&passage.text),
        position: remove_nul(&passage.position),
    }
}

/// Removes NUL characters, which PostgreSQL does not store in a text.
fn remove_nul(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}
