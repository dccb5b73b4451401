//! Finds passages by their words.

use std::collections::HashSet;

use lango_store::{Row, SqlDialect, Statement, StoreError};

use super::write::scope_term;
use super::{Retrieval, SearchQuery};
use crate::fusion::WordHit;
use crate::{EntryKind, query};

/// The number of passages with a word from which on it is common.
const COMMON_TERM_COUNT: i64 = 5_000;

impl Retrieval {
    pub(super) async fn find_by_words(
        &self,
        search: &SearchQuery,
        scopes: &[i64],
        max_hits: usize,
    ) -> Result<Vec<WordHit>, StoreError> {
        let terms = query::search_terms(&search.text);
        if terms.is_empty() {
            return Ok(Vec::new());
        }
        let rows = match self.database.dialect() {
            SqlDialect::Sqlite => self.matches_sqlite(search, &terms, scopes, max_hits).await?,
            SqlDialect::Postgres => {
                let scopes: Vec<String> = scopes.iter().map(ToString::to_string).collect();
                let statement = Statement::new(WORDS_POSTGRES)
                    .bind(terms.join(" "))
                    .bind(scopes.join(" "))
                    .bind(i64::try_from(max_hits).unwrap_or(i64::MAX));
                self.database.query(statement).await?
            }
        };
        let hit = |row: &Row| {
            Ok(WordHit {
                passage: row.integer(0)?,
                score: row.real(1)?,
                coverage: query::term_coverage(&terms, &[row.text(2)?, row.text(3)?, row.text(4)?]),
            })
        };
        rows.iter().map(hit).collect()
    }

    /// Returns the rows of [`WORDS_SQLITE`].
    async fn matches_sqlite(
        &self,
        search: &SearchQuery,
        terms: &[String],
        scopes: &[i64],
        max_hits: usize,
    ) -> Result<Vec<Row>, StoreError> {
        let terms = self.filter_rare_terms(terms).await?;
        let limit = |rows: usize| i64::try_from(rows).unwrap_or(i64::MAX);
        // Most passages are documents, so that searching all of them, and leaving out the
        // rest, is cheaper than comparing each with its scope.
        if search.kind == EntryKind::Documents && search.collections.is_empty() {
            let statement = Statement::new(WORDS_SQLITE).mark_long();
            let statement =
                statement.bind(query::render_fts5_query(&terms, &[])).bind(limit(2 * max_hits));
            let mut rows = self.database.query(statement).await?;
            let all = rows.len() < 2 * max_hits;
            let wanted: HashSet<i64> = scopes.iter().copied().collect();
            // A row without a scope would be a damaged index; it belongs to no search.
            rows.retain(|row| row.integer(5).is_ok_and(|scope| wanted.contains(&scope)));
            if all || rows.len() >= max_hits {
                rows.truncate(max_hits);
                return Ok(rows);
            }
        }
        let scopes: Vec<String> = scopes.iter().map(|scope| scope_term(*scope)).collect();
        let statement = Statement::new(WORDS_SQLITE).mark_long();
        let statement =
            statement.bind(query::render_fts5_query(&terms, &scopes)).bind(limit(max_hits));
        self.database.query(statement).await
    }

    /// Returns the terms without those that are in so many passages that they say little and cost
    /// much, as long as others remain.
    async fn filter_rare_terms(&self, terms: &[String]) -> Result<Vec<String>, StoreError> {
        if terms.len() < 2 || !self.is_large().await? {
            return Ok(terms.to_vec());
        }
        let mut rare = Vec::with_capacity(terms.len());
        for term in terms {
            let statement = Statement::new(
                "SELECT COUNT(*) FROM (SELECT 1 FROM retrieval_words \
                 WHERE retrieval_words MATCH $1 LIMIT $2)",
            );
            let query = query::render_fts5_query(std::slice::from_ref(term), &[]);
            let rows = self.database.query(statement.bind(query).bind(COMMON_TERM_COUNT)).await?;
            let count = rows.first().map_or(Ok(0), |row| row.integer(0))?;
            if count < COMMON_TERM_COUNT {
                rare.push(term.clone());
            }
        }
        Ok(if rare.is_empty() { terms.to_vec() } else { rare })
    }

    /// Tells whether the index is so large that a common word is costly.
    async fn is_large(&self) -> Result<bool, StoreError> {
        let statement = Statement::new("SELECT 1 FROM retrieval_passages LIMIT 1 OFFSET $1");
        Ok(!self.database.query(statement.bind(4 * COMMON_TERM_COUNT)).await?.is_empty())
    }
}

// The scope's term costs and counts nothing; a term in a heading counts more than one in the text.
const WORDS_SQLITE: &str = "SELECT p.id, w.score, p.heading, p.body, p.extra, p.scope FROM \
     (SELECT rowid AS passage, -bm25(retrieval_words, 0.0, 1.5, 1.0, 0.3) AS score \
      FROM retrieval_words WHERE retrieval_words MATCH $1 ORDER BY score DESC, rowid LIMIT $2) w \
     JOIN retrieval_passages p ON p.id = w.passage ORDER BY w.score DESC, p.id";

// PostgreSQL's own ranking ignores how rare a word is, so each word is ranked by itself and
// weighted with its rarity.
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
