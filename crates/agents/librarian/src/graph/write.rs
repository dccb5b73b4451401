//! Records and ends relations.

use std::collections::BTreeMap;

use lango_protocol::Timestamp;
use lango_store::{Batch, Statement};

use super::{AddOutcome, EndOutcome, Graph, GraphName, NewTriple};
use crate::LibrarianError;

/// Limits the relations in one transaction.
const TRIPLES_PER_TRANSACTION: usize = 500;
/// Limits a source.
const MAX_SOURCE_CHARACTERS: usize = 4_000;

impl Graph {
    /// Records a relation, unless it is recorded and holds.
    pub async fn record_relation(&self, triple: NewTriple) -> Result<AddOutcome, LibrarianError> {
        let added = self.add_all(&[triple]).await?;
        Ok(added.first().copied().unwrap_or(AddOutcome::AlreadyThere))
    }

    /// Records many relations, and returns for each whether it was new.
    pub async fn add_all(&self, triples: &[NewTriple]) -> Result<Vec<AddOutcome>, LibrarianError> {
        let mut added = Vec::with_capacity(triples.len());
        for part in triples.chunks(TRIPLES_PER_TRANSACTION) {
            let (batch, positions) = build_batch(self.client(), part)?;
            let changed = self.database.write(batch).await?;
            added.extend(positions.iter().map(|position| match changed.get(*position) {
                Some(0) | None => AddOutcome::AlreadyThere,
                Some(_) => AddOutcome::Stored,
            }));
        }
        Ok(added)
    }

    /// Ends a relation at `at` or now. It stays on record.
    pub async fn end_relation(
        &self,
        subject: &GraphName,
        predicate: &GraphName,
        object: &GraphName,
        by: &str,
        at: Option<Timestamp>,
    ) -> Result<EndOutcome, LibrarianError> {
        let at = at.unwrap_or_else(Timestamp::now);
        let Some((id, began)) = self.find_current(subject, predicate, object).await? else {
            return Ok(EndOutcome::NotThere);
        };
        if at < began {
            let (began, ended) = (began.to_string(), at.to_string());
            return Err(LibrarianError::EndsBeforeItBegan { began, ended });
        }
        let end = Statement::new(
            "UPDATE graph_edges SET valid_to = $1, ended_by = $2 \
             WHERE id = $3 AND valid_to IS NULL",
        )
        .bind(at.as_microseconds())
        .bind(by)
        .bind(id);
        let changed = self.database.write(end.into()).await?;
        Ok(if changed.first() == Some(&1) { EndOutcome::Ended } else { EndOutcome::NotThere })
    }

    async fn find_current(
        &self,
        subject: &GraphName,
        predicate: &GraphName,
        object: &GraphName,
    ) -> Result<Option<(i64, Timestamp)>, LibrarianError> {
        let find = Statement::new(
            "SELECT e.id, e.valid_from FROM graph_edges e \
             JOIN graph_nodes s ON s.id = e.subject \
             JOIN graph_predicates p ON p.id = e.predicate \
             JOIN graph_nodes o ON o.id = e.object \
             WHERE s.folded = $1 AND p.folded = $2 AND o.folded = $3 AND e.valid_to IS NULL \
             AND s.client = $4 AND p.client = $4 AND o.client = $4",
        )
        .bind(subject.folded())
        .bind(predicate.folded())
        .bind(object.folded())
        .bind(self.client());
        let rows = self.database.query(find).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        Ok(Some((row.integer(0)?, Timestamp::from_microseconds(row.integer(1)?))))
    }
}

/// Returns one transaction, and the position of each relation in it. Names come first and sorted,
/// so that two writers of the same names cannot deadlock.
fn build_batch(client: &str, triples: &[NewTriple]) -> Result<(Batch, Vec<usize>), LibrarianError> {
    let mut nodes = BTreeMap::new();
    let mut predicates = BTreeMap::new();
    for triple in triples {
        for name in [&triple.subject, &triple.object] {
            nodes.entry(name.folded()).or_insert(name.shown());
        }
        predicates.entry(triple.predicate.folded()).or_insert(triple.predicate.shown());
    }
    let mut batch = Batch::with_capacity(nodes.len() + predicates.len() + triples.len());
    let mut length = 0;
    let mut push = |statement: Statement| {
        batch.push(statement);
        length += 1;
        length - 1
    };
    for (folded, shown) in nodes {
        push(insert_name(
            "INSERT INTO graph_nodes (client, folded, name) VALUES ($1, $2, $3) \
             ON CONFLICT (client, folded) DO NOTHING",
            client,
            folded,
            shown,
        ));
    }
    for (folded, shown) in predicates {
        push(insert_name(
            "INSERT INTO graph_predicates (client, folded, name) VALUES ($1, $2, $3) \
             ON CONFLICT (client, folded) DO NOTHING",
            client,
            folded,
            shown,
        ));
    }
    let now = Timestamp::now();
    let mut positions = Vec::with_capacity(triples.len());
    for triple in triples {
        positions.push(push(insert_edge(client, triple, now)?));
        for entry in &triple.mentioned_in {
            for node in [&triple.subject, &triple.object] {
                push(super::mentions::insert_mention(client, node, entry));
            }
        }
    }
    Ok((batch, positions))
}

fn insert_name(sql: &'static str, client: &str, folded: &str, shown: &str) -> Statement {
    Statement::new(sql).bind(client).bind(folded).bind(shown)
}

fn insert_edge(
    client: &str,
    triple: &NewTriple,
    now: Timestamp,
) -> Result<Statement, LibrarianError> {
    let provenance = &triple.provenance;
    let source = provenance.source.as_deref().map(str::trim).filter(|source| !source.is_empty());
    if let Some(source) = source {
        let wrong = |why: String| LibrarianError::Text { what: "source", why };
        if source.chars().nth(MAX_SOURCE_CHARACTERS).is_some() {
            return Err(wrong(format!("is longer than {MAX_SOURCE_CHARACTERS} characters")));
        }
        if source.contains('\0') {
            return Err(wrong("has a NUL character in it".to_owned()));
        }
    }
    let insert = Statement::new(
        "INSERT INTO graph_edges (subject, predicate, object, source, session, turn, author, \
         valid_from, recorded_at) \
         SELECT s.id, p.id, o.id, CAST($4 AS TEXT), CAST($5 AS TEXT), CAST($6 AS TEXT), \
         CAST($7 AS TEXT), CAST($8 AS BIGINT), CAST($9 AS BIGINT) \
         FROM graph_nodes s, graph_predicates p, graph_nodes o \
         WHERE s.folded = $1 AND p.folded = $2 AND o.folded = $3 \
         AND s.client = $10 AND p.client = $10 AND o.client = $10 ON CONFLICT DO NOTHING",
    );
    Ok(insert
        .bind(triple.subject.folded())
        .bind(triple.predicate.folded())
        .bind(triple.object.folded())
        .bind(source)
        .bind(provenance.session.as_deref())
        .bind(provenance.turn.as_deref())
        .bind(provenance.by.as_str())
        .bind(triple.valid_from.unwrap_or(now).as_microseconds())
        .bind(now.as_microseconds())
        .bind(client))
}
