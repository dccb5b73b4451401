//! Defines relations and the outcomes of changes to them.

use lango_protocol::Timestamp;
use lango_retrieval::EntryKey;
use lango_store::{Row, StoreError};
use serde::Serialize;

use super::GraphName;
use crate::Provenance;

/// Represents a relation to record.
#[derive(Debug, Clone)]
pub struct NewTriple {
    /// The subject.
    pub subject: GraphName,
    /// The predicate.
    pub predicate: GraphName,
    /// The object.
    pub object: GraphName,
    /// The provenance.
    pub provenance: Provenance,
    /// The time from which it holds; now by default.
    pub valid_from: Option<Timestamp>,
    /// Indexed texts that mention both ends.
    pub mentioned_in: Vec<EntryKey>,
}

/// Represents a recorded relation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Triple {
    /// The id, which rises in the order of recording.
    #[serde(skip)]
    pub id: i64,
    /// The subject.
    pub subject: String,
    /// The predicate.
    pub predicate: String,
    /// The object.
    pub object: String,
    /// The provenance.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// The time from which it holds.
    pub valid_from: Timestamp,
    /// The time until which it held; none while it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<Timestamp>,
    /// The time of recording.
    pub recorded_at: Timestamp,
}

/// Says whether a relation was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum AddOutcome {
    /// It is new.
    Stored,
    /// It was recorded before and still holds. Nothing was changed.
    AlreadyThere,
}

/// Says whether a relation was ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EndOutcome {
    /// It has ended.
    Ended,
    /// No such relation holds.
    NotThere,
}

/// Lists the columns that [`Triple::read`] expects, of `e`, `s`, `p` and `o`.
pub(super) const COLUMNS: &str = "e.id, s.name, p.name, o.name, e.source, e.session, e.turn, \
     e.author, e.valid_from, e.valid_to, e.recorded_at";

/// Joins the tables of [`COLUMNS`].
pub(super) const TABLES: &str = "graph_edges e \
     JOIN graph_nodes s ON s.id = e.subject \
     JOIN graph_predicates p ON p.id = e.predicate \
     JOIN graph_nodes o ON o.id = e.object";

impl Triple {
    pub(super) fn read(row: &Row) -> Result<Self, StoreError> {
        let text = |column| Ok::<_, StoreError>(row.optional_text(column)?.map(str::to_owned));
        let time = |column| row.integer(column).map(Timestamp::from_microseconds);
        Ok(Self {
            id: row.integer(0)?,
            subject: row.text(1)?.to_owned(),
            predicate: row.text(2)?.to_owned(),
            object: row.text(3)?.to_owned(),
            provenance: Provenance {
                source: text(4)?,
                session: text(5)?,
                turn: text(6)?,
                by: row.text(7)?.to_owned(),
            },
            valid_from: time(8)?,
            valid_to: row.optional_integer(9)?.map(Timestamp::from_microseconds),
            recorded_at: time(10)?,
        })
    }
}
