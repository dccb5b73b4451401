//! Searches lessons.

use lango_retrieval::{EntryKind, SearchQuery};
use lango_store::Statement;
use serde::Serialize;

use super::{COLUMNS, Learning, Learnings};
use crate::LibrarianError;
use crate::knowledge::MIN_SIMILARITY;

/// Holds the hits of a search.
#[derive(Debug, Clone, Default, Serialize)]
pub struct LearningHits {
    /// The hits, the best first.
    pub hits: Vec<LearningHit>,
    /// A remark about the result as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Represents a lesson that was found.
#[derive(Debug, Clone, Serialize)]
pub struct LearningHit {
    /// The lesson.
    #[serde(flatten)]
    pub learning: Learning,
    /// The probability that it helps, from 0 to 1.
    pub confidence: f64,
    /// The rank score; scores are comparable within one search only.
    pub score: f64,
}

impl Learnings {
    /// Finds lessons.
    pub async fn search(&self, query: &str, limit: usize) -> Result<LearningHits, LibrarianError> {
        let mut search = SearchQuery::new(EntryKind::Learnings, query, limit.saturating_mul(3));
        search.min_similarity = MIN_SIMILARITY;
        let found = self.retrieval.search(&search).await?;
        let mut hits: Vec<LearningHit> = Vec::new();
        for hit in found.hits {
            if hits.len() >= limit || hits.iter().any(|one| one.learning.id == hit.entry.key) {
                continue;
            }
            if let Some(learning) = self.get(&hit.entry.key).await? {
                let confidence = learning.confidence();
                hits.push(LearningHit { learning, confidence, score: hit.score });
            }
        }
        let note = match found.words_only {
            Some(error) => Some(format!("found by words alone: {error}")),
            None if hits.is_empty() => Some("no lesson is about this".to_owned()),
            None => None,
        };
        Ok(LearningHits { hits, note })
    }

    /// Returns a lesson by its id.
    pub async fn get(&self, id: &str) -> Result<Option<Learning>, LibrarianError> {
        let sql = format!("SELECT {COLUMNS} FROM learnings WHERE id = $1 AND client = $2");
        let statement = Statement::new(sql).bind(id).bind(self.client());
        let rows = self.database().query(statement).await?;
        Ok(rows.first().map(Learning::read).transpose()?)
    }
}
