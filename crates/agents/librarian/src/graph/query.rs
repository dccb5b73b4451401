//! Questions: which relations are on record.

use lango_protocol::Timestamp;
use lango_store::Statement;
use serde::Serialize;

use super::triple::{COLUMNS, TABLES};
use super::{Graph, Name, Triple};
use crate::LibrarianError;

/// Which relations are looked for.
#[derive(Debug, Clone, Default)]
pub struct Question {
    /// What they are about.
    pub subject: Option<Name>,
    /// How they relate.
    pub predicate: Option<Name>,
    /// What they relate to.
    pub object: Option<Name>,
    /// The moment they hold at; now by default.
    pub at: Option<Timestamp>,
    /// Also those that have ended or have not begun.
    pub history: bool,
    /// Only those recorded after this one.
    pub after: i64,
    /// How many at most.
    pub limit: u32,
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Found {
    /// In the order of recording.
    pub triples: Vec<Triple>,
    /// Whether there are more.
    pub more: bool,
}

impl Graph {
    /// Finds relations by what they name.
    pub async fn query(&self, question: &Question) -> Result<Found, LibrarianError> {
        if question.subject.is_none() && question.predicate.is_none() && question.object.is_none() {
            return Err(LibrarianError::NothingAsked);
        }
        self.page(question).await
    }

    /// The same, where naming nothing means all of them.
    pub async fn page(&self, question: &Question) -> Result<Found, LibrarianError> {
        let at = question.at.unwrap_or_else(Timestamp::now).as_microseconds();
        let mut sql = format!("SELECT {COLUMNS} FROM {TABLES} WHERE e.id > $1");
        let mut values = Vec::new();
        for (column, name) in [
            ("s.folded", &question.subject),
            ("p.folded", &question.predicate),
            ("o.folded", &question.object),
        ] {
            if let Some(name) = name {
                values.push(name.folded().to_owned());
                sql += &format!(" AND {column} = ${}", values.len() + 3);
            }
        }
        // The moment is bound either way, so that the numbers of the others stay the same.
        sql += if question.history {
            " AND CAST($2 AS BIGINT) IS NOT NULL"
        } else {
            " AND e.valid_from <= $2 AND (e.valid_to IS NULL OR e.valid_to > $2)"
        };
        sql += " ORDER BY e.id LIMIT $3";
        let mut statement = Statement::new(sql)
            .bind(question.after)
            .bind(at)
            .bind(i64::from(question.limit).saturating_add(1));
        for value in values {
            statement = statement.bind(value);
        }
        let rows = self.database.query(statement).await?;
        let mut triples = rows.iter().map(Triple::read).collect::<Result<Vec<_>, _>>()?;
        let most = usize::try_from(question.limit).unwrap_or(usize::MAX);
        let more = triples.len() > most;
        triples.truncate(most);
        Ok(Found { triples, more })
    }

    /// How many nodes and how many relations that hold there are.
    pub async fn size(&self) -> Result<(u64, u64), LibrarianError> {
        let count = Statement::new(
            "SELECT (SELECT COUNT(*) FROM graph_nodes), \
             (SELECT COUNT(*) FROM graph_edges WHERE valid_to IS NULL)",
        );
        let rows = self.database.query(count).await?;
        let Some(row) = rows.first() else { return Ok((0, 0)) };
        Ok((row.unsigned(0)?, row.unsigned(1)?))
    }
}
