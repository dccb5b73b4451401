//! Searching: what is asked for, what is found, and the two rankings made into one.

use std::collections::{HashMap, HashSet};

use lango_store::{Row, Statement, StoreError};
use serde::Serialize;

use super::Retrieval;
use crate::fusion::fuse;
use crate::{EmbedError, EntryKey, RetrievalError, Space, ids};

/// How texts are found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Mode {
    /// By their words.
    Words,
    /// By their meaning.
    Vectors,
    /// By both.
    #[default]
    Hybrid,
}

/// What is looked for.
#[derive(Debug, Clone)]
pub struct Search {
    /// Whose texts.
    pub space: Space,
    /// Only in these collections; in all of them if there are none.
    pub collections: Vec<String>,
    /// What somebody asked.
    pub text: String,
    /// At most so many hits.
    pub limit: usize,
    /// How.
    pub mode: Mode,
    /// Hits by meaning alone must be at least this similar, from -1 to 1.
    pub least_similarity: f32,
}

impl Search {
    /// A search in all collections of a space, by words and meaning.
    pub fn new(space: Space, text: impl Into<String>, limit: usize) -> Self {
        Self {
            space,
            collections: Vec::new(),
            text: text.into(),
            limit,
            mode: Mode::default(),
            least_similarity: 0.0,
        }
    }
}

/// What was found, the best first.
#[derive(Debug, Clone, Default)]
pub struct Found {
    /// The passages.
    pub hits: Vec<Hit>,
    /// Set where the embedding model did not answer, so that this was found by words alone.
    pub words_only: Option<EmbedError>,
}

/// A passage that was found.
#[derive(Debug, Clone, Serialize)]
pub struct Hit {
    /// Which entry.
    #[serde(skip)]
    pub entry: EntryKey,
    /// The passage's place in the entry, from 0.
    pub number: u64,
    /// What people call the entry.
    pub title: String,
    /// Where the entry comes from.
    pub source: String,
    /// Where in it.
    pub position: String,
    /// The headings it stands under, the title first.
    pub heading: String,
    /// The text.
    pub text: String,
    /// How good it is; comparable within one search only.
    pub score: f64,
    /// The cosine of its angle to the query, where it was found by meaning.
    pub similarity: Option<f32>,
    /// Whether it was found by its words.
    pub by_words: bool,
}

/// Passages of each ranking that are fused. Deeper ones cannot come first any more.
const DEPTH: usize = 100;

impl Retrieval {
    /// Finds passages. With [`Mode::Hybrid`] and no embedder, or one that does not answer, it finds
    /// by words alone.
    pub async fn search(&self, search: &Search) -> Result<Found, RetrievalError> {
        let scopes = self.scopes(search).await?;
        if scopes.is_empty() || search.limit == 0 {
            return Ok(Found::default());
        }
        let depth = DEPTH.max(search.limit);
        let by_words = match search.mode {
            Mode::Vectors => Vec::new(),
            Mode::Words | Mode::Hybrid => self.by_words(search, &scopes, depth).await?,
        };
        let mut words_only = None;
        let mut by_meaning = match search.mode {
            Mode::Words => Vec::new(),
            Mode::Vectors => self.by_meaning(&search.text, search.space, &scopes, depth).await?,
            Mode::Hybrid => match self.by_meaning(&search.text, search.space, &scopes, depth).await
            {
                Ok(ranked) => ranked,
                Err(RetrievalError::NoEmbedder) => Vec::new(),
                Err(RetrievalError::Embed(error)) => {
                    words_only = Some(error);
                    Vec::new()
                }
                Err(error) => return Err(error),
            },
        };
        let words: HashSet<i64> = by_words.iter().map(|hit| hit.passage).collect();
        by_meaning.retain(|(passage, similarity)| {
            *similarity >= search.least_similarity || words.contains(passage)
        });
        let similarities: HashMap<i64, f32> = by_meaning.iter().copied().collect();
        let mut fused = match search.mode {
            Mode::Words => by_words.iter().map(|hit| (hit.passage, hit.score)).collect(),
            Mode::Vectors => {
                let score = |(passage, similarity)| (passage, f64::from(similarity));
                by_meaning.into_iter().map(score).collect()
            }
            Mode::Hybrid => fuse(&by_meaning, &by_words),
        };
        fused.truncate(search.limit);
        let mut hits = self.load(&fused).await?;
        for (passage, hit) in &mut hits {
            hit.similarity = similarities.get(passage).copied();
            hit.by_words = words.contains(passage);
        }
        Ok(Found { hits: hits.into_iter().map(|(_, hit)| hit).collect(), words_only })
    }

    /// The numbers of the collections that a search is about.
    async fn scopes(&self, search: &Search) -> Result<Vec<i64>, StoreError> {
        if !search.collections.is_empty() {
            let scope = |collection: &String| ids::scope(search.space, collection);
            return Ok(search.collections.iter().map(scope).collect());
        }
        let statement =
            Statement::new("SELECT DISTINCT collection FROM retrieval_entries WHERE space = $1");
        let rows = self.database.query(statement.bind(search.space.as_str())).await?;
        rows.iter().map(|row| Ok(ids::scope(search.space, row.text(0)?))).collect()
    }

    /// The passages of these numbers, in this order. One that went away meanwhile is left out.
    pub(super) async fn load(&self, ranked: &[(i64, f64)]) -> Result<Vec<(i64, Hit)>, StoreError> {
        let mut hits = Vec::with_capacity(ranked.len());
        for (passage, score) in ranked {
            let statement = Statement::new(
                "SELECT e.space, e.collection, e.key, e.title, e.source, \
                 p.number, p.heading, p.body, p.position \
                 FROM retrieval_passages p JOIN retrieval_entries e ON e.id = p.entry \
                 WHERE p.id = $1",
            );
            let rows = self.database.query(statement.bind(*passage).brief()).await?;
            if let Some(hit) = rows.first().map(|row| hit(row, *score)).transpose()?.flatten() {
                hits.push((*passage, hit));
            }
        }
        Ok(hits)
    }
}

fn hit(row: &Row, score: f64) -> Result<Option<Hit>, StoreError> {
    let Some(space) = Space::from_name(row.text(0)?) else { return Ok(None) };
    Ok(Some(Hit {
        entry: EntryKey::new(space, row.text(1)?, row.text(2)?),
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
