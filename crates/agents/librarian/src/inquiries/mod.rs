//! Open questions: what was looked for and not found, to be asked at a good moment.
//!
//! A few are open at a time. At most one is shown in a turn, and not in every turn; the answer is
//! saved as knowledge when it comes. What nobody answers expires, and what the user does not want
//! to answer is never asked again.

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

use lango_protocol::Timestamp;
use lango_store::{Database, Row, StoreError};
use serde::Serialize;

use crate::knowledge::Knowledge;

pub use gaps::{Gap, gaps};
pub use recognise::Recognised;
pub use resolve::Answered;

/// How open questions are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InquirySettings {
    /// How many are open at a time.
    pub max_pending: u32,
    /// Turns of a conversation between two questions.
    pub cooldown_turns: u32,
    /// How long a question stays open.
    pub expires_after: Duration,
}

impl Default for InquirySettings {
    fn default() -> Self {
        Self { max_pending: 3, cooldown_turns: 3, expires_after: Duration::from_hours(14 * 24) }
    }
}

/// The open questions of one database.
#[derive(Clone, Debug)]
pub struct Inquiries {
    knowledge: Knowledge,
    settings: InquirySettings,
}

/// A question.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Inquiry {
    /// Its id.
    pub id: String,
    /// What it is about.
    pub topic: String,
    /// The question.
    pub question: String,
    /// Why it is asked.
    pub why: String,
    /// More is more urgent.
    pub priority: i64,
    /// The conversation it came up in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// How it stands.
    pub state: InquiryState,
    /// When it came up.
    pub created_at: Timestamp,
    /// When it expires.
    pub expires_at: Timestamp,
    /// What was answered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// Where the answer is kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knowledge_key: Option<String>,
}

/// How a question stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum InquiryState {
    /// It is open.
    Pending,
    /// It was answered.
    Answered,
    /// The user does not want to answer it.
    Dismissed,
    /// Nobody answered in time.
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
    /// Makes the tables where they are missing.
    pub async fn open(knowledge: Knowledge, settings: InquirySettings) -> Result<Self, StoreError> {
        knowledge.database().migrate(&schema::COMPONENT).await?;
        Ok(Self { knowledge, settings })
    }

    fn database(&self) -> &Database {
        self.knowledge.database()
    }
}

/// The columns that [`Inquiry::read`] expects.
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
