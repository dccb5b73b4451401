//! Finds relations by their names.

use lango_protocol::Timestamp;
use lango_store::Statement;
use serde::Serialize;

use super::triple::{COLUMNS, TABLES};
use super::{Graph, GraphName, Triple};
use crate::LibrarianError;

/// Describes the relations to find.
#[derive(Debug, Clone, Default)]
pub struct RelationQuery {
    /// The subject.
    pub subject: Option<GraphName>,
    /// The predicate.
    pub predicate: Option<GraphName>,
    /// The object.
    pub object: Option<GraphName>,
    /// The time at which they hold; now by default.
    pub at: Option<Timestamp>,
    /// True to include relations that have ended or have not begun.
    pub history: bool,
    /// The id after which to start, in the order of recording.
    pub after: i64,
    /// The limit.
    pub limit: u32,
}

/// Holds the relations that were found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RelationPage {
    /// The relations in the order of recording.
    pub triples: Vec<Triple>,
    /// True if there are more.
    pub more: bool,
}

impl Graph {
    /// Finds relations. At least one name must be given.
    pub async fn find_relations(
        &self,
        question: &RelationQuery,
    ) -> Result<RelationPage, LibrarianError> {
        if question.subject.is_none() && question.predicate.is_none() && question.object.is_none() {
            return Err(LibrarianError::NothingAsked);
        }
        self.page_relations(question).await
    }

    /// Does the same, but without any name it returns all relations.
    pub async fn page_relations(
        &self,
        question: &RelationQuery,
    ) -> Result<RelationPage, LibrarianError> {
        let at = question.at.unwrap_or_else(Timestamp::now).as_microseconds();
        let mut sql = format!("SELECT {COLUMNS} FROM {TABLES} WHERE e.id > $1 AND s.client = $4");
        let mut values = Vec::new();
        for (column, name) in [
            ("s.folded", &question.subject),
            ("p.folded", &question.predicate),
            ("o.folded", &question.object),
        ] {
            if let Some(name) = name {
                values.push(name.folded().to_owned());
                sql += &format!(" AND {column} = ${}", values.len() + 4);
            }
        }
        // The time is always bound, so that the other parameters keep their numbers.
        sql += if question.history {
            " AND CAST($2 AS BIGINT) IS NOT NULL"
        } else {
            " AND e.valid_from <= $2 AND (e.valid_to IS NULL OR e.valid_to > $2)"
        };
        sql += " ORDER BY e.id LIMIT $3";
        let mut statement = Statement::new(sql)
            .bind(question.after)
            .bind(at)
            .bind(i64::from(question.limit).saturating_add(1))
            .bind(self.client());
        for value in values {
            statement = statement.bind(value);
        }
        let rows = self.database.query(statement).await?;
        let mut triples = rows.iter().map(Triple::read).collect::<Result<Vec<_>, _>>()?;
        let most = usize::try_from(question.limit).unwrap_or(usize::MAX);
        let more = triples.len() > most;
        triples.truncate(most);
        Ok(RelationPage { triples, more })
    }

    /// Counts the nodes and the current relations.
    pub async fn count_nodes_and_relations(&self) -> Result<(u64, u64), LibrarianError> {
        let count = Statement::new(
            "SELECT (SELECT COUNT(*) FROM graph_nodes WHERE client = $1), \
             (SELECT COUNT(*) FROM graph_edges e JOIN graph_nodes s ON s.id = e.subject \
             WHERE e.valid_to IS NULL AND s.client = $1)",
        );
        let rows = self.database.query(count.bind(self.client())).await?;
        let Some(row) = rows.first() else { return Ok((0, 0)) };
        Ok((row.unsigned(0)?, row.unsigned(1)?))
    }
}
