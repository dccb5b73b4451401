//! The words of the graph.

use lango_protocol::Timestamp;
use lango_retrieval::EntryKey;
use lango_store::{Row, StoreError};
use serde::Serialize;

use super::Name;
use crate::Provenance;

/// A relation about to be recorded.
#[derive(Debug, Clone)]
pub struct NewTriple {
    /// What it is about.
    pub subject: Name,
    /// How they relate.
    pub predicate: Name,
    /// What it relates to.
    pub object: Name,
    /// Where it came from.
    pub provenance: Provenance,
    /// Since when it holds; now by default.
    pub valid_from: Option<Timestamp>,
    /// Indexed texts that mention both ends.
    pub mentioned_in: Vec<EntryKey>,
}

/// A relation as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Triple {
    /// Its number, rising with the order of recording.
    #[serde(skip)]
    pub id: i64,
    /// What it is about.
    pub subject: String,
    /// How they relate.
    pub predicate: String,
    /// What it relates to.
    pub object: String,
    /// Where it came from.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// Since when it holds.
    pub valid_from: Timestamp,
    /// Until when it held; none while it holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_to: Option<Timestamp>,
    /// When it was recorded.
    pub recorded_at: Timestamp,
}

/// What became of a relation that was to be recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Added {
    /// It is new.
    Stored,
    /// It was recorded before and still holds. Nothing was changed.
    AlreadyThere,
}

/// What became of a relation that was to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Ended {
    /// It has ended.
    Ended,
    /// There is none that holds.
    NotThere,
}

/// The columns that [`Triple::read`] expects, of `e`, `s`, `p` and `o`.
pub(super) const COLUMNS: &str = "e.id, s.name, p.name, o.name, e.source, e.session, e.turn, \
     e.author, e.valid_from, e.valid_to, e.recorded_at";

/// The tables behind [`COLUMNS`].
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
