//! Saves knowledge: a new key, a new version, or no change.

use lango_protocol::Timestamp;
use lango_retrieval::{EntryKey, EntryKind, NewEntry};
use lango_store::{Batch, Statement, StoreError};
use lango_text::{ellipsize_characters, to_single_spaced};
use serde::Serialize;

use super::{COLUMNS, Knowledge, KnowledgeCategory, KnowledgeVersion};
use crate::text::{check_line, check_text, cut_into_passages};
use crate::{LibrarianError, Provenance};

const MAX_KEY_CHARACTERS: usize = 200;
const MAX_CONTENT_CHARACTERS: usize = 20_000;
const MAX_TAG_CHARACTERS: usize = 60;
const MAX_TAG_COUNT: usize = 20;
/// Limits the excerpt of a replaced text.
const MAX_EXCERPT_CHARACTERS: usize = 300;
/// Limits how often a save is tried while other writers are faster.
const MAX_ATTEMPT_COUNT: u32 = 8;

/// Is knowledge to save.
#[derive(Debug, Clone)]
pub struct NewKnowledge {
    /// The key.
    pub key: String,
    /// The text.
    pub content: String,
    /// The category.
    pub category: KnowledgeCategory,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// The provenance.
    pub provenance: Provenance,
    /// The reason for the knowledge, if it is less than certain.
    pub confidence: Option<String>,
}

/// The result of saving.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SavedKnowledge {
    /// The key, as it was first written.
    pub key: String,
    /// The newest version.
    pub version: i64,
    /// Says whether anything changed.
    pub outcome: SaveOutcome,
    /// The version that was replaced, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced: Option<ReplacedVersion>,
}

/// Says whether anything changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SaveOutcome {
    /// The key is new.
    Stored,
    /// There is a new version; the old ones are kept.
    NewVersion,
    /// The newest version says the same.
    Unchanged,
}

/// Represents a version that was replaced.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ReplacedVersion {
    /// The version number.
    pub version: i64,
    /// The text, or the beginning of it.
    pub content: String,
    /// The author.
    pub by: String,
    /// The time of recording.
    pub recorded_at: Timestamp,
}

impl Knowledge {
    /// Saves knowledge under its key.
    pub async fn save(&self, new: NewKnowledge) -> Result<SavedKnowledge, LibrarianError> {
        self.save_with(new, Vec::new()).await
    }

    /// Does the same together with further statements in one transaction. They are written even if
    /// the knowledge itself does not change.
    pub(crate) async fn save_with(
        &self,
        new: NewKnowledge,
        more: Vec<Statement>,
    ) -> Result<SavedKnowledge, LibrarianError> {
        let new = check_new_knowledge(new)?;
        let mut attempt = 1;
        loop {
            match self.try_save(&new, &more).await {
                Err(LibrarianError::Store(StoreError::Conflict { .. }))
                    if attempt < MAX_ATTEMPT_COUNT =>
                {
                    attempt += 1;
                }
                result => return result,
            }
        }
    }

    async fn try_save(
        &self,
        new: &NewKnowledge,
        more: &[Statement],
    ) -> Result<SavedKnowledge, LibrarianError> {
        let before = self.newest(&new.key).await?;
        let (key, version) = match &before {
            Some(before) => (before.key.clone(), before.version + 1),
            None => (new.key.clone(), 1),
        };
        let mut batch = Batch::new();
        let unchanged = before.as_ref().is_some_and(|before| {
            (&before.content, before.category, &before.tags)
                == (&new.content, new.category, &new.tags)
        });
        if let (true, Some(before)) = (unchanged, &before) {
            more.iter().cloned().for_each(|statement| batch.push(statement));
            if !more.is_empty() {
                self.database().write(batch).await?;
            }
            let (key, version) = (before.key.clone(), before.version);
            return Ok(SavedKnowledge {
                key,
                version,
                outcome: SaveOutcome::Unchanged,
                replaced: None,
            });
        }
        batch.push(build_insert(self.client(), new, &key, version));
        if let Some(before) = &before
            && before.category != new.category
        {
            let old = entry_key(before.category, &key);
            self.retrieval
                .build_removal(&old)
                .into_iter()
                .for_each(|statement| batch.push(statement));
        }
        let prepared = self.retrieval.prepare(&build_index_entry(new, &key, version)).await?;
        prepared.into_statements().into_iter().for_each(|statement| batch.push(statement));
        more.iter().cloned().for_each(|statement| batch.push(statement));
        self.database().write(batch).await?;
        let outcome = if before.is_some() { SaveOutcome::NewVersion } else { SaveOutcome::Stored };
        let replaced = before.map(|before| ReplacedVersion {
            version: before.version,
            content: ellipsize_characters(&before.content, MAX_EXCERPT_CHARACTERS),
            by: before.provenance.by,
            recorded_at: before.recorded_at,
        });
        Ok(SavedKnowledge { key, version, outcome, replaced })
    }

    /// Returns the newest version of a key.
    pub async fn newest(&self, key: &str) -> Result<Option<KnowledgeVersion>, LibrarianError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM knowledge_versions WHERE folded = $1 AND client = $2 \
             ORDER BY version DESC LIMIT 1"
        );
        let statement = Statement::new(sql).bind(fold_key(key)).bind(self.client());
        let rows = self.database().query(statement).await?;
        Ok(rows.first().map(KnowledgeVersion::read).transpose()?)
    }
}

/// Returns a key in the form that is compared.
pub(super) fn fold_key(key: &str) -> String {
    to_single_spaced(key).to_lowercase()
}

pub(super) fn entry_key(category: KnowledgeCategory, key: &str) -> EntryKey {
    EntryKey::new(EntryKind::Knowledge, category.as_str(), fold_key(key))
}

fn check_new_knowledge(new: NewKnowledge) -> Result<NewKnowledge, LibrarianError> {
    if new.tags.len() > MAX_TAG_COUNT {
        let why = format!("are more than {MAX_TAG_COUNT}");
        return Err(LibrarianError::Text { what: "tags", why });
    }
    let mut tags = Vec::with_capacity(new.tags.len());
    for tag in &new.tags {
        let tag = check_line("a tag", tag, MAX_TAG_CHARACTERS)?;
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    tags.sort();
    Ok(NewKnowledge {
        key: check_line("key", &new.key, MAX_KEY_CHARACTERS)?,
        content: check_text("content", &new.content, MAX_CONTENT_CHARACTERS)?,
        tags,
        ..new
    })
}

/// Returns the insert statement. It fails the whole batch if this version exists already because
/// another writer was faster.
fn build_insert(client: &str, new: &NewKnowledge, key: &str, version: i64) -> Statement {
    // A list of texts can always be serialized.
    let tags = serde_json::to_string(&new.tags).unwrap_or_else(|_| "[]".to_owned());
    Statement::new(
        "INSERT INTO knowledge_versions (folded, version, key, content, category, tags, source, \
         session, turn, author, confidence, recorded_at, client) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT DO NOTHING",
    )
    .bind(fold_key(key))
    .bind(version)
    .bind(key)
    .bind(new.content.as_str())
    .bind(new.category.as_str())
    .bind(tags)
    .bind(new.provenance.source.as_deref())
    .bind(new.provenance.session.as_deref())
    .bind(new.provenance.turn.as_deref())
    .bind(new.provenance.by.as_str())
    .bind(new.confidence.as_deref())
    .bind(Timestamp::now().as_microseconds())
    .bind(client)
    .expect_rows(1)
}

fn build_index_entry(new: &NewKnowledge, key: &str, version: i64) -> NewEntry {
    let mut passages = cut_into_passages(&new.content);
    for passage in &mut passages {
        passage.heading = new.tags.join(", ");
    }
    NewEntry {
        key: entry_key(new.category, key),
        title: key.to_owned(),
        source: new.provenance.source.clone().unwrap_or_else(|| new.provenance.by.clone()),
        digest: format!("version {version}"),
        passages,
    }
}
