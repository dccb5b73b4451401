//! Saving: a new key, a new version, or nothing new.

use lango_protocol::Timestamp;
use lango_retrieval::{EntryKey, NewEntry, Space};
use lango_store::{Batch, Statement, StoreError};
use serde::Serialize;

use super::{COLUMNS, Category, Knowledge, KnowledgeVersion};
use crate::text::{checked, checked_line, passages, shortened};
use crate::{LibrarianError, Provenance};

const LONGEST_KEY: usize = 200;
const LONGEST_CONTENT: usize = 20_000;
const LONGEST_TAG: usize = 60;
const MOST_TAGS: usize = 20;
/// Characters of a replaced text that are shown.
const SHOWN: usize = 300;
/// How often somebody else may be faster.
const ATTEMPTS: u32 = 8;

/// Something to save.
#[derive(Debug, Clone)]
pub struct NewKnowledge {
    /// What it is found under.
    pub key: String,
    /// The text.
    pub content: String,
    /// What kind of knowledge.
    pub category: Category,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Where it came from.
    pub provenance: Provenance,
    /// How it came to be known, where that is less than certain.
    pub confidence: Option<String>,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Saved {
    /// The key, as it was first written.
    pub key: String,
    /// The version that is found now.
    pub version: i64,
    /// Whether anything changed.
    pub outcome: SavedOutcome,
    /// The version before it, where there is one and it was replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced: Option<Replaced>,
}

/// Whether anything changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SavedOutcome {
    /// The key is new.
    Stored,
    /// There is a new version; the old ones are kept.
    NewVersion,
    /// The newest version says the same.
    Unchanged,
}

/// A version that is not the newest any more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Replaced {
    /// Its number.
    pub version: i64,
    /// Its text, or the beginning of it.
    pub content: String,
    /// Who wrote it.
    pub by: String,
    /// When.
    pub recorded_at: Timestamp,
}

impl Knowledge {
    /// Saves something under its key.
    pub async fn save(&self, new: NewKnowledge) -> Result<Saved, LibrarianError> {
        self.save_with(new, Vec::new()).await
    }

    /// The same, along with statements that belong to it: all of it is written, or nothing. They are
    /// written where the knowledge itself does not change, too.
    pub(crate) async fn save_with(
        &self,
        new: NewKnowledge,
        more: Vec<Statement>,
    ) -> Result<Saved, LibrarianError> {
        let new = check(new)?;
        let mut attempt = 1;
        loop {
            match self.try_save(&new, &more).await {
                Err(LibrarianError::Store(StoreError::Conflict { .. })) if attempt < ATTEMPTS => {
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
    ) -> Result<Saved, LibrarianError> {
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
            return Ok(Saved { key, version, outcome: SavedOutcome::Unchanged, replaced: None });
        }
        batch.push(insert(new, &key, version));
        if let Some(before) = &before
            && before.category != new.category
        {
            let old = entry_key(before.category, &key);
            self.retrieval.removal(&old).into_iter().for_each(|statement| batch.push(statement));
        }
        let prepared = self.retrieval.prepare(&entry(new, &key, version)).await?;
        prepared.statements().into_iter().for_each(|statement| batch.push(statement));
        more.iter().cloned().for_each(|statement| batch.push(statement));
        self.database().write(batch).await?;
        let outcome =
            if before.is_some() { SavedOutcome::NewVersion } else { SavedOutcome::Stored };
        let replaced = before.map(|before| Replaced {
            version: before.version,
            content: shortened(&before.content, SHOWN),
            by: before.provenance.by,
            recorded_at: before.recorded_at,
        });
        Ok(Saved { key, version, outcome, replaced })
    }

    /// The newest version of a key.
    pub async fn newest(&self, key: &str) -> Result<Option<KnowledgeVersion>, LibrarianError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM knowledge_versions WHERE folded = $1 \
             ORDER BY version DESC LIMIT 1"
        );
        let rows = self.database().query(Statement::new(sql).bind(folded(key)).brief()).await?;
        Ok(rows.first().map(KnowledgeVersion::read).transpose()?)
    }
}

/// A key as it is compared.
pub(super) fn folded(key: &str) -> String {
    key.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

pub(super) fn entry_key(category: Category, key: &str) -> EntryKey {
    EntryKey::new(Space::Knowledge, category.as_str(), folded(key))
}

fn check(new: NewKnowledge) -> Result<NewKnowledge, LibrarianError> {
    if new.tags.len() > MOST_TAGS {
        let why = format!("are more than {MOST_TAGS}");
        return Err(LibrarianError::Text { what: "tags", why });
    }
    let mut tags = Vec::with_capacity(new.tags.len());
    for tag in &new.tags {
        let tag = checked_line("a tag", tag, LONGEST_TAG)?;
        if !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    tags.sort();
    Ok(NewKnowledge {
        key: checked_line("key", &new.key, LONGEST_KEY)?,
        content: checked("content", &new.content, LONGEST_CONTENT)?,
        tags,
        ..new
    })
}

/// Refuses the whole batch where this version is there already: somebody else was faster.
fn insert(new: &NewKnowledge, key: &str, version: i64) -> Statement {
    // A list of texts is always JSON.
    let tags = serde_json::to_string(&new.tags).unwrap_or_else(|_| "[]".to_owned());
    Statement::new(
        "INSERT INTO knowledge_versions (folded, version, key, content, category, tags, source, \
         session, turn, author, confidence, recorded_at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) ON CONFLICT DO NOTHING",
    )
    .bind(folded(key))
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
    .expect_rows(1)
}

fn entry(new: &NewKnowledge, key: &str, version: i64) -> NewEntry {
    let mut passages = passages(&new.content);
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
