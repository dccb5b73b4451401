//! Stores lessons: remedies for failures, saved by an agent or observed in finished turns.
//!
//! A lesson is offered when its failure comes back, and the outcome changes its confidence. What an
//! agent does with advice is not decided here.

mod advise;
mod count;
mod difference;
mod mask;
mod observe;
mod save;
mod schema;
mod search;
pub(crate) mod tools;

use lango_protocol::Timestamp;
use lango_retrieval::Retrieval;
use lango_store::{Database, Row, Statement, StoreError};
use serde::Serialize;

use crate::Provenance;

pub use advise::Advice;
pub use mask::mask;
pub use observe::{AdviceOutcome, Failure, Observation, observe};
pub use save::NewLearning;
pub(crate) use schema::COMPONENT;
pub use search::{LearningHit, LearningHits};

/// Holds the lessons of one space.
#[derive(Clone, Debug)]
pub struct Learnings {
    retrieval: Retrieval,
}

/// Represents a lesson.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Learning {
    /// Its id.
    pub id: String,
    /// The trigger: the name of a tool, or a situation in words.
    pub trigger: String,
    /// The error it helps against, masked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_pattern: Option<String>,
    /// The cause of the error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diagnosis: Option<String>,
    /// The remedy.
    pub fix: String,
    /// The origin.
    pub origin: LearningOrigin,
    /// The number of times it helped when it was offered.
    pub successes: u32,
    /// The number of times it was offered with a known outcome.
    pub tries: u32,
    /// The provenance.
    #[serde(flatten)]
    pub provenance: Provenance,
    /// The time of recording.
    pub recorded_at: Timestamp,
}

/// Says where a lesson comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum LearningOrigin {
    /// An agent saved it.
    Told,
    /// It was seen in finished turns.
    Observed,
}

impl LearningOrigin {
    fn as_str(self) -> &'static str {
        match self {
            Self::Told => "told",
            Self::Observed => "observed",
        }
    }

    fn read(text: &str) -> Result<Self, StoreError> {
        match text {
            "told" => Ok(Self::Told),
            "observed" => Ok(Self::Observed),
            other => Err(StoreError::Corrupt {
                location: "the lessons".to_owned(),
                reason: format!("a lesson has the unknown origin {other:?}"),
            }),
        }
    }
}

impl Learning {
    /// Returns how likely it is to help, from 0 to 1; one half while it is untried.
    pub fn confidence(&self) -> f64 {
        (f64::from(self.successes) + 1.0) / (f64::from(self.tries) + 2.0)
    }
}

impl Learnings {
    /// Creates the tables that are missing.
    pub(crate) async fn migrate(database: &Database) -> Result<(), StoreError> {
        database.migrate(&COMPONENT).await
    }

    pub(crate) fn new(retrieval: Retrieval) -> Self {
        Self { retrieval }
    }

    /// Returns the name of the space in the database.
    fn client(&self) -> &str {
        self.retrieval.space().as_stored()
    }

    pub(crate) fn build_space_removal(&self) -> Vec<Statement> {
        let of_space = |sql: &'static str| Statement::new(sql).bind(self.client());
        vec![
            of_space("DELETE FROM learnings WHERE client = $1"),
            of_space("DELETE FROM learning_failures WHERE client = $1"),
        ]
    }

    fn database(&self) -> &Database {
        self.retrieval.database()
    }
}

/// Lists the columns that [`Learning::read`] expects.
const COLUMNS: &str = "id, trigger_name, error_pattern, diagnosis, fix, origin, successes, tries, \
     source, session, turn, author, recorded_at";

impl Learning {
    fn read(row: &Row) -> Result<Self, StoreError> {
        let text = |column| Ok::<_, StoreError>(row.optional_text(column)?.map(str::to_owned));
        let count = |column| Ok::<_, StoreError>(u32::try_from(row.integer(column)?).unwrap_or(0));
        Ok(Self {
            id: row.text(0)?.to_owned(),
            trigger: row.text(1)?.to_owned(),
            error_pattern: text(2)?,
            diagnosis: text(3)?,
            fix: row.text(4)?.to_owned(),
            origin: LearningOrigin::read(row.text(5)?)?,
            successes: count(6)?,
            tries: count(7)?,
            provenance: Provenance {
                source: text(8)?,
                session: text(9)?,
                turn: text(10)?,
                by: row.text(11)?.to_owned(),
            },
            recorded_at: Timestamp::from_microseconds(row.integer(12)?),
        })
    }
}
