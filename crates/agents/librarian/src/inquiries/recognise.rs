//! Recognising an answer in what the user says after a question was shown.
//!
//! Only what is quite certainly an answer is taken for one. The rest is left to the librarian, who
//! can record an answer by a call of its own.

use lango_protocol::{Event, EventBody, SessionId};
use lango_store::Statement;

use super::{Inquiries, Inquiry, InquiryState};
use crate::text::{coverage, telling_words};
use crate::{LibrarianError, Provenance};

/// How much of the question's subject the message must take up.
const COVERED: f64 = 0.5;
/// How near in meaning both must be, where there is a model that can tell.
const SIMILAR: f32 = 0.45;
/// Words of a message that say something new.
const NEW_WORDS: usize = 1;
/// A longer message is about more than an answer.
const LONGEST: usize = 1_500;

/// What a message that wants something begins with.
const REQUESTS: &[&str] = &[
    "add",
    "are",
    "ask",
    "can",
    "change",
    "check",
    "could",
    "create",
    "delete",
    "describe",
    "do",
    "does",
    "explain",
    "find",
    "fix",
    "get",
    "give",
    "go",
    "help",
    "how",
    "is",
    "list",
    "look",
    "make",
    "open",
    "please",
    "read",
    "remember",
    "remove",
    "research",
    "run",
    "save",
    "search",
    "send",
    "should",
    "show",
    "start",
    "stop",
    "summarise",
    "summarize",
    "tell",
    "try",
    "update",
    "use",
    "was",
    "were",
    "what",
    "when",
    "where",
    "which",
    "who",
    "why",
    "will",
    "would",
    "write",
];

/// An answer that was recognised and saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recognised {
    /// The question.
    pub inquiry: String,
    /// Where the answer is kept.
    pub knowledge_key: String,
    /// How sure that is, in words.
    pub confidence: String,
}

impl Inquiries {
    /// Looks whether the user's message of a finished turn answers the question that was shown in
    /// the turn before. `turns` of the session must not have been counted up yet.
    pub async fn recognise(
        &self,
        session: &SessionId,
        events: &[Event],
    ) -> Result<Option<Recognised>, LibrarianError> {
        let said = events.iter().find_map(|event| match &event.body {
            EventBody::UserMessage { text, sender: None, .. } => Some((event, text.trim())),
            _ => None,
        });
        let Some((event, message)) = said else { return Ok(None) };
        let Some(inquiry) = self.shown_before(session).await? else { return Ok(None) };
        let Some(confidence) = self.certainty(&inquiry, message).await? else { return Ok(None) };
        let provenance = Provenance {
            source: Some(format!("the user's message {}", event.id)),
            session: Some(session.to_string()),
            turn: Some(event.turn.to_string()),
            by: "lango".to_owned(),
        };
        let answered =
            self.answer(&inquiry.id, message, provenance, Some(confidence.clone())).await?;
        let knowledge_key = answered.saved.key;
        Ok(Some(Recognised { inquiry: inquiry.id, knowledge_key, confidence }))
    }

    /// The question that was shown in the turn before this one, if it is still open.
    async fn shown_before(&self, session: &SessionId) -> Result<Option<Inquiry>, LibrarianError> {
        let before = self.turns(session).await? - 1;
        let statement = Statement::new(
            "SELECT inquiry FROM inquiry_shown WHERE session = $1 AND number = $2 LIMIT 1",
        );
        let statement = statement.bind(session.as_str()).bind(before);
        let rows = self.database().query(statement).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let inquiry = self.find(row.text(0)?).await?;
        Ok(Some(inquiry).filter(|inquiry| inquiry.state == InquiryState::Pending))
    }

    /// Why a message is taken for an answer; none where it is not.
    async fn certainty(
        &self,
        inquiry: &Inquiry,
        message: &str,
    ) -> Result<Option<String>, LibrarianError> {
        if !is_statement(message) || message.chars().count() > LONGEST {
            return Ok(None);
        }
        let (topic, words) = (telling_words(&inquiry.topic), telling_words(message));
        let covered = coverage(&topic, &words);
        let new = words.difference(&topic).count();
        if covered < COVERED || new < NEW_WORDS {
            return Ok(None);
        }
        let mut reason = format!("it takes up {:.0} % of the question's words", covered * 100.0);
        if let Some(similarity) = self.similarity(&inquiry.question, message).await {
            if similarity < SIMILAR {
                return Ok(None);
            }
            reason += &format!(", similarity in meaning {similarity:.2}");
        }
        Ok(Some(format!("recognised as an answer to {:?}: {reason}", inquiry.question)))
    }

    /// How near two texts are in meaning. A model that does not answer has no say.
    async fn similarity(&self, one: &str, other: &str) -> Option<f32> {
        let retrieval = self.knowledge.retrieval();
        retrieval.embedder()?;
        let one = retrieval.query_vector(one).await.ok()?;
        let other = retrieval.query_vector(other).await.ok()?;
        Some(one.iter().zip(&other).map(|(a, b)| a * b).sum())
    }
}

/// Whether a message says something, and does not ask or order.
fn is_statement(message: &str) -> bool {
    let first = message.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
    let wants = first.is_none_or(|word| REQUESTS.contains(&word.to_lowercase().as_str()));
    !wants && !message.contains('?')
}
