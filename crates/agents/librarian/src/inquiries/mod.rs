//! Stores open questions: subjects that were searched for and not found, to be asked later.
//!
//! A few are open at a time. At most one is shown in a turn, and not in every turn; the answer is
//! saved as knowledge. A question without an answer expires, and one that the user does not want to
//! answer is never asked again.

mod gaps;
mod list;
mod notice;
mod recognise;
mod resolve;
mod schema;
mod show;
pub(crate) mod tools;

use std::fmt;
use std::time::Duration;

use lango_protocol::{Space, Timestamp};
use lango_store::{Database, Row, Statement, StoreError};
use serde::Serialize;

use crate::knowledge::Knowledge;

pub use gaps::{Gap, gaps};
pub use recognise::RecognisedAnswer;
pub use resolve::AnsweredInquiry;
pub(crate) use schema::COMPONENT;

/// Configures open questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InquirySettings {
    /// The limit of open questions.
    pub max_pending: u32,
    /// The number of turns of a session between two questions.
    pub cooldown_turns: u32,
    /// The time that a question stays open.
    pub expires_after: Duration,
}

impl Default for InquirySettings {
    fn default() -> Self {
        Self { max_pending: 3, cooldown_turns: 3, expires_after: Duration::from_hours(14 * 24) }
    }
}

/// Holds the questions of one space.
#[derive(Clone, Debug)]
pub struct Inquiries {
    knowledge: Knowledge,
    settings: InquirySettings,
}

/// Represents a question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Inquiry {
    /// Its id.
    pub id: String,
    /// The topic.
    pub topic: String,
    /// The question.
    pub question: String,
    /// The reason for the question.
    pub why: String,
    /// The priority; higher is more urgent.
    pub priority: i64,
    /// The session in which it came up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The state.
    pub state: InquiryState,
    /// The time of creation.
    pub created_at: Timestamp,
    /// The time of expiry.
    pub expires_at: Timestamp,
    /// The answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// The key under which the answer is stored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knowledge_key: Option<String>,
}

/// The state of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InquiryState {
    /// It is open.
    Pending,
    /// It was answered.
    Answered,
    /// The user does not want to answer it.
    Dismissed,
    /// It was not answered in time.
    Expired,
}

impl InquiryState {
    fn from_name(name: &str) -> Option<Self> {
        [Self::Pending, Self::Answered, Self::Dismissed, Self::Expired]
            .into_iter()
            .find(|state| state.to_string() == name)
    }
}

impl fmt::Display for InquiryState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Pending => "pending",
            Self::Answered => "answered",
            Self::Dismissed => "dismissed",
            Self::Expired => "expired",
        })
    }
}

impl Inquiries {
    /// Creates the tables that are missing.
    pub(crate) async fn migrate(database: &Database) -> Result<(), StoreError> {
        database.migrate(&COMPONENT).await
    }

    pub(crate) fn new(knowledge: Knowledge, settings: InquirySettings) -> Self {
        Self { knowledge, settings }
    }

    fn space(&self) -> &Space {
        self.knowledge.retrieval().space()
    }

    /// Returns the name of the space in the database.
    fn client(&self) -> &str {
        self.space().as_stored()
    }

    pub(crate) fn build_space_removal(&self) -> Vec<Statement> {
        let of_space = |sql: &'static str| Statement::new(sql).bind(self.client());
        vec![
            of_space(
                "DELETE FROM inquiry_shown WHERE inquiry IN \
                 (SELECT id FROM inquiries WHERE client = $1)",
            ),
            of_space("DELETE FROM inquiries WHERE client = $1"),
        ]
    }

    fn database(&self) -> &Database {
        self.knowledge.database()
    }
}

/// Lists the columns that [`Inquiry::read`] expects.
const COLUMNS: &str = "id, topic, question, why, priority, session, state, created_at, expires_at, \
     answer, knowledge_key";

impl Inquiry {
    fn read(row: &Row) -> Result<Self, StoreError> {
        let text = |column| Ok::<_, StoreError>(row.optional_text(column)?.map(str::to_owned));
        let time = |column| row.integer(column).map(Timestamp::from_microseconds);
        Ok(Self {
            id: row.text(0)?.to_owned(),
            topic: row.text(1)?.to_owned(),
            question: row.text(2)?.to_owned(),
            why: row.text(3)?.to_owned(),
            priority: row.integer(4)?,
            session: text(5)?,
            state: InquiryState::from_name(row.text(6)?).ok_or_else(|| StoreError::Corrupt {
                location: "the table inquiries".to_owned(),
                reason: "a state that is not known".to_owned(),
            })?,
            created_at: time(7)?,
            expires_at: time(8)?,
            answer: text(9)?,
            knowledge_key: text(10)?,
        })
    }
}
