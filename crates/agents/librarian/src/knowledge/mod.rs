//! Stores knowledge: facts, rules and definitions by key, in versions.
//!
//! Saving under an existing key adds a version and keeps the old ones; only a person removes a key.
//! Searches find the newest version.

mod category;
mod list;
mod save;
mod schema;
mod search;
pub(crate) mod tools;

use lango_protocol::Timestamp;
use lango_retrieval::Retrieval;
use lango_store::{Database, Row, Statement, StoreError};
use serde::Serialize;

use crate::Provenance;

pub use category::KnowledgeCategory;
pub use list::KnowledgeSummary;
pub use save::{NewKnowledge, ReplacedVersion, SaveOutcome, SavedKnowledge};
pub(crate) use schema::COMPONENT;
pub(crate) use search::MIN_SIMILARITY;
pub use search::{KnowledgeHit, KnowledgeHits};

/// Holds the knowledge of one space.
#[derive(Clone, Debug)]
pub struct Knowledge {
    retrieval: Retrieval,
}

/// Is one version of the knowledge under a key.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct KnowledgeVersion {
    /// The key, as it was first written.
    pub key: String,
    /// The version number, from 1.
    pub version: i64,
    /// The text.
    pub content: String,
    /// The category.
    pub category: KnowledgeCategory,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// The provenance.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// The reason for the knowledge, if it is less than certain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<String>,
    /// The time of recording.
    pub recorded_at: Timestamp,
}

impl Knowledge {
    /// Creates the tables that are missing.
    pub(crate) async fn migrate(database: &Database) -> Result<(), StoreError> {
        database.migrate(&COMPONENT).await
    }

    pub(crate) fn new(retrieval: Retrieval) -> Self {
        Self { retrieval }
    }

    /// Returns the name of the space in the database.
    fn client(&self) -> &str {
        self.retrieval.space().as_stored()
    }

    pub(crate) fn build_space_removal(&self) -> Vec<Statement> {
        vec![Statement::new("DELETE FROM knowledge_versions WHERE client = $1").bind(self.client())]
    }

    pub(crate) fn database(&self) -> &Database {
        self.retrieval.database()
    }

    pub(crate) fn retrieval(&self) -> &Retrieval {
        &self.retrieval
    }
}

/// Lists the columns that [`KnowledgeVersion::read`] expects.
const COLUMNS: &str = "key, version, content, category, tags, source, session, turn, author, \
     confidence, recorded_at";

impl KnowledgeVersion {
    fn read(row: &Row) -> Result<Self, StoreError> {
        let text = |column| Ok::<_, StoreError>(row.optional_text(column)?.map(str::to_owned));
        let damaged = |reason: String| StoreError::Corrupt {
            location: "the table knowledge_versions".to_owned(),
            reason,
        };
        Ok(Self {
            key: row.text(0)?.to_owned(),
            version: row.integer(1)?,
            content: row.text(2)?.to_owned(),
            category: KnowledgeCategory::from_name(row.text(3)?)
                .ok_or_else(|| damaged("a category that is not known".to_owned()))?,
            tags: serde_json::from_str(row.text(4)?).map_err(|error| damaged(error.to_string()))?,
            provenance: Provenance {
                source: text(5)?,
                session: text(6)?,
                turn: text(7)?,
                by: row.text(8)?.to_owned(),
            },
            confidence: text(9)?,
            recorded_at: Timestamp::from_microseconds(row.integer(10)?),
        })
    }
}
