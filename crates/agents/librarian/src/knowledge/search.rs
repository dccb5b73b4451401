//! Searches knowledge.

use lango_protocol::Timestamp;
use lango_retrieval::{EntryKind, SearchQuery};
use serde::Serialize;

use super::{Knowledge, KnowledgeCategory};
use crate::LibrarianError;

/// Sets the similarity below which a text without a common word is no hit.
pub(crate) const MIN_SIMILARITY: f32 = 0.25;

/// Holds the hits of a search.
#[derive(Debug, Clone, Default, Serialize)]
pub struct KnowledgeHits {
    /// The hits, the best first, each key once.
    pub hits: Vec<KnowledgeHit>,
    /// A remark about the result as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Represents a hit of a search.
#[derive(Debug, Clone, Serialize)]
pub struct KnowledgeHit {
    /// The key.
    pub key: String,
    /// The newest version.
    pub version: i64,
    /// The passage that was found.
    pub text: String,
    /// The category.
    pub category: KnowledgeCategory,
    /// Words to find it by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The rank score; scores are comparable within one search only.
    pub score: f64,
    /// The source.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The author.
    pub by: String,
    /// Whose knowledge it is, if it is of another space than the turn's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The reason for the knowledge, if it is less than certain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<String>,
    /// The time of recording.
    pub recorded_at: Timestamp,
}

impl KnowledgeHits {
    /// Adds the hits of another space, each with its origin.
    pub(crate) fn add(&mut self, other: Self, from: Option<&str>) {
        if self.hits.is_empty() || !other.hits.is_empty() {
            self.note = other.note;
        }
        let marked = |hit| KnowledgeHit { from: from.map(str::to_owned), ..hit };
        self.hits.extend(other.hits.into_iter().map(marked));
    }
}

impl Knowledge {
    /// Finds knowledge about a subject.
    pub async fn search(
        &self,
        query: &str,
        category: Option<KnowledgeCategory>,
        limit: usize,
    ) -> Result<KnowledgeHits, LibrarianError> {
        // Several passages of one key are one hit.
        let mut search = SearchQuery::new(EntryKind::Knowledge, query, limit.saturating_mul(3));
        search.collections = category.iter().map(|one| one.as_str().to_owned()).collect();
        search.min_similarity = MIN_SIMILARITY;
        let found = self.retrieval.search(&search).await?;
        let mut hits: Vec<KnowledgeHit> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for hit in found.hits {
            if hits.len() >= limit || !seen.insert(hit.entry.key.clone()) {
                continue;
            }
            // It may have been removed meanwhile.
            let Some(newest) = self.newest(&hit.entry.key).await? else { continue };
            hits.push(KnowledgeHit {
                key: newest.key,
                version: newest.version,
                text: hit.text,
                category: newest.category,
                tags: newest.tags,
                score: hit.score,
                source: newest.provenance.source,
                by: newest.provenance.by,
                from: None,
                confidence: newest.confidence,
                recorded_at: newest.recorded_at,
            });
        }
        let note = match found.words_only {
            Some(error) => Some(format!("found by words alone: {error}")),
            None if hits.is_empty() => Some("nothing is known about this".to_owned()),
            None => None,
        };
        Ok(KnowledgeHits { hits, note })
    }
}
