//! Searches: the query, the result, and the fusion of the two rankings.

use std::collections::{HashMap, HashSet};

use lango_store::{Row, Statement, StoreError};
use serde::Serialize;

use super::Retrieval;
use crate::fusion::fuse_rankings;
use crate::{EmbedError, EntryKey, EntryKind, RetrievalError, ids};

/// Says how texts are found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RetrievalMode {
    /// By words.
    Words,
    /// By meaning.
    Vectors,
    /// By words and meaning.
    #[default]
    Hybrid,
}

/// Describes a search.
#[derive(Debug, Clone)]
pub struct SearchQuery {
    /// The kind of text.
    pub kind: EntryKind,
    /// Only in these collections; in all of them if there are none.
    pub collections: Vec<String>,
    /// The user's query.
    pub text: String,
    /// The maximum number of hits.
    pub limit: usize,
    /// The mode.
    pub mode: RetrievalMode,
    /// The minimum similarity of hits by meaning only, from -1 to 1.
    pub min_similarity: f32,
}

impl SearchQuery {
    /// Makes a search in all collections of a kind, by words and meaning.
    pub fn new(kind: EntryKind, text: impl Into<String>, limit: usize) -> Self {
        Self {
            kind,
            collections: Vec::new(),
            text: text.into(),
            limit,
            mode: RetrievalMode::default(),
            min_similarity: 0.0,
        }
    }
}

/// Holds the hits, the best first.
#[derive(Debug, Clone, Default)]
pub struct SearchHits {
    /// The passages.
    pub hits: Vec<SearchHit>,
    /// Set where the embedding model did not answer, so that the search used words only.
    pub words_only: Option<EmbedError>,
}

/// Represents a passage that was found.
#[derive(Debug, Clone, Serialize)]
pub struct SearchHit {
    /// The entry.
    #[serde(skip)]
    pub entry: EntryKey,
    /// The passage's position in the entry, from 0.
    pub number: u64,
    /// The entry's title for people.
    pub title: String,
    /// The entry's source.
    pub source: String,
    /// The position in the entry.
    pub position: String,
    /// The headings above it, the title first.
    pub heading: String,
    /// The text.
    pub text: String,
    /// The score; comparable within one search only.
    pub score: f64,
    /// The cosine of its angle to the query, where it was found by meaning.
    pub similarity: Option<f32>,
    /// True if it was found by its words.
    pub by_words: bool,
}

/// Limits the passages of each ranking that are fused. Deeper ones cannot become first.
const MIN_RANKING_DEPTH: usize = 100;

impl Retrieval {
    /// Finds passages. With [`RetrievalMode::Hybrid`] and no embedder, or one that does not answer, it
    /// searches by words only.
    pub async fn search(&self, search: &SearchQuery) -> Result<SearchHits, RetrievalError> {
        let scopes = self.list_scopes(search).await?;
        if scopes.is_empty() || search.limit == 0 {
            return Ok(SearchHits::default());
        }
        let depth = MIN_RANKING_DEPTH.max(search.limit);
        let by_words = match search.mode {
            RetrievalMode::Vectors => Vec::new(),
            RetrievalMode::Words | RetrievalMode::Hybrid => {
                self.find_by_words(search, &scopes, depth).await?
            }
        };
        let mut words_only = None;
        let mut by_meaning = match search.mode {
            RetrievalMode::Words => Vec::new(),
            RetrievalMode::Vectors => {
                self.find_by_meaning(&search.text, search.kind, &scopes, depth).await?
            }
            RetrievalMode::Hybrid => {
                match self.find_by_meaning(&search.text, search.kind, &scopes, depth).await {
                    Ok(ranked) => ranked,
                    Err(RetrievalError::NoEmbedder) => Vec::new(),
                    Err(RetrievalError::Embed(error)) => {
                        words_only = Some(error);
                        Vec::new()
                    }
                    Err(error) => return Err(error),
                }
            }
        };
        let words: HashSet<i64> = by_words.iter().map(|hit| hit.passage).collect();
        by_meaning.retain(|(passage, similarity)| {
            *similarity >= search.min_similarity || words.contains(passage)
        });
        let similarities: HashMap<i64, f32> = by_meaning.iter().copied().collect();
        let mut fused = match search.mode {
            RetrievalMode::Words => by_words.iter().map(|hit| (hit.passage, hit.score)).collect(),
            RetrievalMode::Vectors => {
                let score = |(passage, similarity)| (passage, f64::from(similarity));
                by_meaning.into_iter().map(score).collect()
            }
            RetrievalMode::Hybrid => fuse_rankings(&by_meaning, &by_words),
        };
        fused.truncate(search.limit);
        let mut hits = self.load(&fused).await?;
        for (passage, hit) in &mut hits {
            hit.similarity = similarities.get(passage).copied();
            hit.by_words = words.contains(passage);
        }
        Ok(SearchHits { hits: hits.into_iter().map(|(_, hit)| hit).collect(), words_only })
    }

    /// Returns the numbers of the collections to search.
    async fn list_scopes(&self, search: &SearchQuery) -> Result<Vec<i64>, StoreError> {
        if !search.collections.is_empty() {
            let scope = |collection: &String| self.scope_number(search.kind, collection);
            return Ok(search.collections.iter().map(scope).collect());
        }
        let statement = Statement::new(
            "SELECT DISTINCT collection FROM retrieval_entries WHERE space = $1 AND client = $2",
        );
        let statement = statement.bind(search.kind.as_str()).bind(self.space.as_stored());
        let rows = self.database.query(statement).await?;
        rows.iter().map(|row| Ok(self.scope_number(search.kind, row.text(0)?))).collect()
    }

    fn scope_number(&self, kind: EntryKind, collection: &str) -> i64 {
        ids::scope_number(&self.space, kind, collection)
    }

    /// Loads the passages of these numbers, in this order. One that was deleted meanwhile is left
    /// out.
    pub(super) async fn load(
        &self,
        ranked: &[(i64, f64)],
    ) -> Result<Vec<(i64, SearchHit)>, StoreError> {
        let mut hits = Vec::with_capacity(ranked.len());
        for (passage, score) in ranked {
            let statement = Statement::new(
                "SELECT e.space, e.collection, e.key, e.title, e.source, \
                 p.number, p.heading, p.body, p.position \
                 FROM retrieval_passages p JOIN retrieval_entries e ON e.id = p.entry \
                 WHERE p.id = $1 AND e.client = $2",
            );
            let statement = statement.bind(*passage).bind(self.space.as_stored());
            let rows = self.database.query(statement).await?;
            if let Some(hit) = rows.first().map(|row| read_hit(row, *score)).transpose()?.flatten()
            {
                hits.push((*passage, hit));
            }
        }
        Ok(hits)
    }
}

fn read_hit(row: &Row, score: f64) -> Result<Option<SearchHit>, StoreError> {
    let Some(kind) = EntryKind::from_name(row.text(0)?) else { return Ok(None) };
    Ok(Some(SearchHit {
        entry: EntryKey::new(kind, row.text(1)?, row.text(2)?),
        title: row.text(3)?.to_owned(),
        source: row.text(4)?.to_owned(),
        number: row.unsigned(5)?,
        heading: row.text(6)?.to_owned(),
        text: row.text(7)?.to_owned(),
        position: row.text(8)?.to_owned(),
        score,
        similarity: None,
        by_words: false,
    }))
}
