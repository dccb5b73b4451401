//! Reads one step of a traversal: all relations of many nodes, in one statement.

use lango_store::{Database, SqlDialect, Statement};

use super::Direction;
use crate::LibrarianError;

/// Represents a relation by its database ids.
#[derive(Debug, Clone, Copy)]
pub(super) struct GraphEdge {
    pub(super) id: i64,
    pub(super) subject: i64,
    pub(super) predicate: i64,
    pub(super) object: i64,
}

/// Describes the relations to read.
pub(super) struct FrontierQuery<'a> {
    pub(super) nodes: &'a [i64],
    /// The predicates to follow; all if none.
    pub(super) predicates: Option<&'a [i64]>,
    pub(super) direction: Direction,
    /// The time at which the relations hold, in microseconds.
    pub(super) at: i64,
    pub(super) limit: usize,
}

pub(super) async fn read_edges(
    database: &Database,
    step: &FrontierQuery<'_>,
) -> Result<Vec<GraphEdge>, LibrarianError> {
    let dialect = database.dialect();
    let arm = |from: &str| match dialect {
        SqlDialect::Sqlite => build_sqlite_query(from, step.predicates.is_some()),
        SqlDialect::Postgres => build_postgres_query(from, step.predicates.is_some()),
    };
    let sql = match step.direction {
        Direction::Out => format!("{} LIMIT $3", arm("subject")),
        Direction::In => format!("{} LIMIT $3", arm("object")),
        Direction::Both => format!(
            "SELECT id, subject, predicate, object FROM ({}) AS outgoing \
             UNION ALL SELECT id, subject, predicate, object FROM ({}) AS incoming LIMIT $3",
            arm("subject"),
            arm("object")
        ),
    };
    let mut statement = Statement::new(sql)
        .bind(render_id_list(dialect, step.nodes))
        .bind(step.at)
        .bind(i64::try_from(step.limit).unwrap_or(i64::MAX));
    if let Some(predicates) = step.predicates {
        statement = statement.bind(render_id_list(dialect, predicates));
    }
    let rows = database.query(statement).await?;
    let edge = |row: &lango_store::Row| {
        Ok(GraphEdge {
            id: row.integer(0)?,
            subject: row.integer(1)?,
            predicate: row.integer(2)?,
            object: row.integer(3)?,
        })
    };
    rows.iter().map(edge).collect()
}

/// Returns the query for SQLite. The outer loop goes over the nodes and the inner one over an
/// index, both in order, and stops at the limit, so a node with very many relations costs no more
/// than the rows that are returned.
fn build_sqlite_query(from: &str, filtered: bool) -> String {
    let filter = if filtered { "AND e.predicate IN (SELECT value FROM json_each($4))" } else { "" };
    format!(
        "SELECT e.id AS id, e.subject AS subject, e.predicate AS predicate, e.object AS object \
         FROM json_each($1) f CROSS JOIN graph_edges e \
         WHERE e.{from} = f.value AND e.valid_from <= $2 \
         AND (e.valid_to IS NULL OR e.valid_to > $2) {filter}"
    )
}

/// Returns the query for PostgreSQL, where each node's share needs its own limit.
fn build_postgres_query(from: &str, filtered: bool) -> String {
    let filter =
        if filtered { "AND predicate = ANY (CAST(CAST($4 AS TEXT) AS BIGINT[]))" } else { "" };
    format!(
        "SELECT e.id, e.subject, e.predicate, e.object \
         FROM unnest(CAST(CAST($1 AS TEXT) AS BIGINT[])) WITH ORDINALITY AS f (node, position) \
         CROSS JOIN LATERAL (SELECT id, subject, predicate, object FROM graph_edges \
         WHERE {from} = f.node AND valid_from <= $2 AND (valid_to IS NULL OR valid_to > $2) \
         {filter} ORDER BY predicate, id LIMIT $3) e ORDER BY f.position"
    )
}

/// Formats ids as a list that the database can parse.
pub(super) fn render_id_list(dialect: SqlDialect, numbers: &[i64]) -> String {
    let (open, close) = match dialect {
        SqlDialect::Sqlite => ('[', ']'),
        SqlDialect::Postgres => ('{', '}'),
    };
    let mut text = String::with_capacity(numbers.len() * 7 + 2);
    text.push(open);
    for (position, number) in numbers.iter().enumerate() {
        if position > 0 {
            text.push(',');
        }
        text.push_str(&number.to_string());
    }
    text.push(close);
    text
}

/// Returns the condition that a column is one of the ids bound to `$1`.
pub(super) fn in_list_condition(dialect: SqlDialect) -> &'static str {
    match dialect {
        SqlDialect::Sqlite => "IN (SELECT value FROM json_each($1))",
        SqlDialect::Postgres => "= ANY (CAST(CAST($1 AS TEXT) AS BIGINT[]))",
    }
}
