//! Searching what is known.

use lango_protocol::Timestamp;
use lango_retrieval::{Search, Space};
use serde::Serialize;

use super::{Category, Knowledge};
use crate::LibrarianError;

/// Texts that are less similar in meaning, and share no word, are not an answer.
pub(crate) const LEAST_SIMILARITY: f32 = 0.25;

/// What was found.
#[derive(Debug, Clone, Default, Serialize)]
pub struct KnowledgeHits {
    /// The best first, each key once.
    pub hits: Vec<KnowledgeHit>,
    /// What else there is to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Something that is known.
#[derive(Debug, Clone, Serialize)]
pub struct KnowledgeHit {
    /// Its key.
    pub key: String,
    /// The version, which is the newest.
    pub version: i64,
    /// The passage that was found.
    pub text: String,
    /// What kind of knowledge.
    pub category: Category,
    /// Words to find it by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// How good it is; comparable within one search only.
    pub score: f64,
    /// What supports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Who wrote it.
    pub by: String,
    /// How it came to be known, where that is less than certain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confidence: Option<String>,
    /// When.
    pub recorded_at: Timestamp,
}

impl Knowledge {
    /// Finds what is known about something.
    pub async fn search(
        &self,
        query: &str,
        category: Option<Category>,
        limit: usize,
    ) -> Result<KnowledgeHits, LibrarianError> {
        // Several passages of one key are one hit.
        let mut search = Search::new(Space::Knowledge, query, limit.saturating_mul(3));
        search.collections = category.iter().map(|one| one.as_str().to_owned()).collect();
        search.least_similarity = LEAST_SIMILARITY;
        let found = self.retrieval.search(&search).await?;
        let mut hits: Vec<KnowledgeHit> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for hit in found.hits {
            if hits.len() >= limit || !seen.insert(hit.entry.key.clone()) {
                continue;
            }
            // One that was removed meanwhile is not known any more.
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
