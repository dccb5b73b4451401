//! Searching.

use std::collections::{HashMap, HashSet};

use lango_store::{Dialect, Row, RowView, Statement, StoreError};
use serde::Serialize;

use super::Retrieval;
use super::write::scope_word;
use crate::fusion::{WordHit, fuse};
use crate::vector::{Nearest, Query};
use crate::{EmbedError, EntryKey, Purpose, RetrievalError, Space, ids, query};

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

/// Passages with a word, from which on it is common.
const COMMON: i64 = 5_000;

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

    async fn by_words(
        &self,
        search: &Search,
        scopes: &[i64],
        most: usize,
    ) -> Result<Vec<WordHit>, StoreError> {
        let terms = query::terms(&search.text);
        if terms.is_empty() {
            return Ok(Vec::new());
        }
        let rows = match self.database.dialect() {
            Dialect::Sqlite => self.matches_sqlite(search, &terms, scopes, most).await?,
            Dialect::Postgres => {
                let scopes: Vec<String> = scopes.iter().map(ToString::to_string).collect();
                let statement = Statement::new(WORDS_POSTGRES)
                    .bind(terms.join(" "))
                    .bind(scopes.join(" "))
                    .bind(i64::try_from(most).unwrap_or(i64::MAX));
                self.database.query(statement).await?
            }
        };
        let hit = |row: &Row| {
            Ok(WordHit {
                passage: row.integer(0)?,
                score: row.real(1)?,
                coverage: query::coverage(&terms, &[row.text(2)?, row.text(3)?, row.text(4)?]),
            })
        };
        rows.iter().map(hit).collect()
    }

    /// The rows of [`WORDS_SQLITE`].
    async fn matches_sqlite(
        &self,
        search: &Search,
        terms: &[String],
        scopes: &[i64],
        most: usize,
    ) -> Result<Vec<Row>, StoreError> {
        let terms = self.rare_terms(terms).await?;
        let limit = |rows: usize| i64::try_from(rows).unwrap_or(i64::MAX);
        // Most of what there is are documents, so that looking for all of them, and leaving out the
        // rest, is cheaper than comparing each with its scope.
        if search.space == Space::Documents && search.collections.is_empty() {
            let statement = Statement::new(WORDS_SQLITE);
            let statement = statement.bind(query::for_fts5(&terms, &[])).bind(limit(2 * most));
            let mut rows = self.database.query(statement).await?;
            let all = rows.len() < 2 * most;
            let wanted: HashSet<i64> = scopes.iter().copied().collect();
            rows.retain(|row| row.integer(5).is_ok_and(|scope| wanted.contains(&scope)));
            if all || rows.len() >= most {
                rows.truncate(most);
                return Ok(rows);
            }
        }
        let scopes: Vec<String> = scopes.iter().map(|scope| scope_word(*scope)).collect();
        let statement = Statement::new(WORDS_SQLITE);
        let statement = statement.bind(query::for_fts5(&terms, &scopes)).bind(limit(most));
        self.database.query(statement).await
    }

    /// The terms without those that so many passages have that they say little and cost much, as long
    /// as others are left.
    async fn rare_terms(&self, terms: &[String]) -> Result<Vec<String>, StoreError> {
        if terms.len() < 2 || !self.is_large().await? {
            return Ok(terms.to_vec());
        }
        let mut rare = Vec::with_capacity(terms.len());
        for term in terms {
            let statement = Statement::new(
                "SELECT COUNT(*) FROM (SELECT 1 FROM retrieval_words \
                 WHERE retrieval_words MATCH $1 LIMIT $2)",
            );
            let query = query::for_fts5(std::slice::from_ref(term), &[]);
            let rows = self.database.query(statement.bind(query).bind(COMMON)).await?;
            let count = rows.first().map_or(Ok(0), |row| row.integer(0))?;
            if count < COMMON {
                rare.push(term.clone());
            }
        }
        Ok(if rare.is_empty() { terms.to_vec() } else { rare })
    }

    /// Whether there is so much that a common word costs.
    async fn is_large(&self) -> Result<bool, StoreError> {
        let statement = Statement::new("SELECT 1 FROM retrieval_passages LIMIT 1 OFFSET $1");
        Ok(!self.database.query(statement.bind(4 * COMMON)).await?.is_empty())
    }

    /// The statement that reads the vectors of a scope. Documents are most of what there is, and are
    /// read in the order of the table; of the others, the index finds the few.
    fn vectors_of(&self, space: Space) -> &'static str {
        match (self.database.dialect(), space) {
            (Dialect::Sqlite, Space::Documents) => {
                "SELECT passage, vector FROM retrieval_vectors NOT INDEXED \
                 WHERE model = $1 AND scope = $2"
            }
            _ => "SELECT passage, vector FROM retrieval_vectors WHERE model = $1 AND scope = $2",
        }
    }

    /// The nearest passages with their similarity.
    async fn by_meaning(
        &self,
        text: &str,
        space: Space,
        scopes: &[i64],
        most: usize,
    ) -> Result<Vec<(i64, f32)>, RetrievalError> {
        let Some(model) = self.model else { return Err(RetrievalError::NoEmbedder) };
        let vector = self.query_vector(text).await?;
        let mut nearest = Nearest::new(Query::new(&vector), most);
        for scope in scopes {
            let statement = Statement::new(self.vectors_of(space));
            let statement = statement.bind(model).bind(*scope);
            nearest = self
                .database
                .fold(statement, nearest, |nearest: &mut Nearest, row| {
                    nearest.see(row.integer(0)?, row.blob(1)?)
                })
                .await?;
        }
        Ok(nearest.ranked())
    }

    /// The passage of one entry that fits a query best; none where the entry is not there.
    pub async fn best_passage(
        &self,
        key: &EntryKey,
        text: &str,
    ) -> Result<Option<Hit>, RetrievalError> {
        let statement = Statement::new(
            "SELECT p.id, v.vector FROM retrieval_passages p JOIN retrieval_vectors v \
             ON v.passage = p.id AND v.model = $3 \
             WHERE p.entry = (SELECT id FROM retrieval_entries WHERE scope = $1 AND key = $2)",
        );
        let statement = statement.bind(ids::scope_of(key)).bind(key.key.as_str());
        let best = match (self.model, self.query_vector(text).await) {
            (Some(model), Ok(vector)) => {
                let nearest = Nearest::new(Query::new(&vector), 1);
                let see = |nearest: &mut Nearest, row: &RowView<'_>| {
                    nearest.see(row.integer(0)?, row.blob(1)?)
                };
                let nearest = self.database.fold(statement.bind(model), nearest, see).await?;
                nearest.ranked().first().copied()
            }
            // Without a model, how it begins says best what it is about.
            _ => None,
        };
        let similarity = best.map(|(_, similarity)| similarity);
        let passage = match best {
            Some((passage, _)) => Some(passage),
            None => self.first_passage(key).await?,
        };
        let Some(passage) = passage else { return Ok(None) };
        let mut hits = self.load(&[(passage, 0.0)]).await?;
        Ok(hits.pop().map(|(_, hit)| Hit { similarity, ..hit }))
    }

    async fn first_passage(&self, key: &EntryKey) -> Result<Option<i64>, StoreError> {
        let first = Statement::new(
            "SELECT id FROM retrieval_passages WHERE entry = \
             (SELECT id FROM retrieval_entries WHERE scope = $1 AND key = $2) \
             ORDER BY number LIMIT 1",
        );
        let first = first.bind(ids::scope_of(key)).bind(key.key.as_str());
        self.database.query(first).await?.first().map(|row| row.integer(0)).transpose()
    }

    /// The vector of a query.
    pub async fn query_vector(&self, text: &str) -> Result<Vec<f32>, RetrievalError> {
        if let Some(vector) = self.remembered(text) {
            return Ok(vector);
        }
        let Some(embedder) = &self.embedder else { return Err(RetrievalError::NoEmbedder) };
        let vectors = embedder.embed(&[text.to_owned()], Purpose::Query).await?;
        let vector = vectors.into_iter().next().unwrap_or_default();
        self.remember(text, &vector);
        Ok(vector)
    }

    /// The passages of these numbers, in this order. One that went away meanwhile is left out.
    async fn load(&self, ranked: &[(i64, f64)]) -> Result<Vec<(i64, Hit)>, StoreError> {
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

// The scope's word costs and counts nothing, a heading's word counts more than one of the text.
const WORDS_SQLITE: &str = "SELECT p.id, w.score, p.heading, p.body, p.extra, p.scope FROM \
     (SELECT rowid AS passage, -bm25(retrieval_words, 0.0, 1.5, 1.0, 0.3) AS score \
      FROM retrieval_words WHERE retrieval_words MATCH $1 ORDER BY score DESC, rowid LIMIT $2) w \
     JOIN retrieval_passages p ON p.id = w.passage ORDER BY w.score DESC, p.id";

// PostgreSQL's own ranking knows nothing of how rare a word is, so each word is ranked by itself
// and weighted with its rarity.
const WORDS_POSTGRES: &str = "\
WITH terms AS ( \
    SELECT plainto_tsquery('english', term) AS term \
    FROM unnest(string_to_array($1, ' ')) AS term \
    WHERE numnode(plainto_tsquery('english', term)) > 0 \
), scopes AS ( \
    SELECT CAST(scope AS BIGINT) AS scope FROM unnest(string_to_array($2, ' ')) AS scope \
), total AS ( \
    SELECT COUNT(*) AS passages FROM retrieval_passages \
    WHERE scope IN (SELECT scope FROM scopes) \
), matches AS ( \
    SELECT p.id, t.term, ts_rank('{0.1, 0.1, 0.1, 0.15}', p.words, t.term) AS rank, \
           length(p.body) AS size \
    FROM terms t JOIN retrieval_passages p ON p.words @@ t.term \
    WHERE p.scope IN (SELECT scope FROM scopes) \
), rarity AS ( \
    SELECT term, ln(1 + (total.passages - COUNT(*) + 0.5) / (COUNT(*) + 0.5)) AS weight \
    FROM matches, total GROUP BY term, total.passages \
) \
SELECT p.id, w.score, p.heading, p.body, p.extra FROM ( \
    SELECT m.id, CAST(SUM(r.weight * m.rank / \
        (m.rank + 0.06 * (0.25 + 0.75 * m.size / 900.0))) AS DOUBLE PRECISION) AS score \
    FROM matches m JOIN rarity r ON r.term = m.term \
    GROUP BY m.id, m.size ORDER BY score DESC, m.id LIMIT $3) w \
JOIN retrieval_passages p ON p.id = w.id ORDER BY w.score DESC, p.id";
