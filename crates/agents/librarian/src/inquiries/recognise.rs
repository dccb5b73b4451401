//! Recognises an answer in the user's message after a question was shown.
//!
//! Only a quite certain answer is recorded. The librarian can record others by a call of its own.

use lango_protocol::{Event, EventBody, SessionId};
use lango_retrieval::RetrievalError;
use lango_store::Statement;
use lango_text::word_coverage;

use super::{Inquiries, Inquiry, InquiryState};
use crate::text::significant_words;
use crate::{LibrarianError, Provenance};

/// Sets how much of the question's topic the message must contain.
const MIN_TOPIC_COVERAGE: f64 = 0.5;
/// Sets the similarity that both must have, if there is an embedding model.
const MIN_SIMILARITY: f32 = 0.45;
/// Sets how many words of a message must be new.
const MIN_NEW_WORD_COUNT: usize = 1;
/// Limits an answer; a longer message is about more than that.
const MAX_ANSWER_CHARACTERS: usize = 1_500;

/// Lists the first words of requests and questions.
const REQUEST_WORDS: &[&str] = &[
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

/// Represents an answer that was recognised and saved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecognisedAnswer {
    /// The question.
    pub inquiry: String,
    /// The key under which the answer is stored.
    pub knowledge_key: String,
    /// The reason for recognising it, in words.
    pub confidence: String,
}

impl Inquiries {
    /// Checks whether the user's message of a finished turn answers the question that was shown in
    /// the turn before. The finished turn must not have been counted yet.
    pub async fn recognise(
        &self,
        session: &SessionId,
        events: &[Event],
    ) -> Result<Option<RecognisedAnswer>, LibrarianError> {
        let user_message = events.iter().find_map(|event| match &event.body {
            EventBody::UserMessage { text, sender, .. }
                if self.space().is_own_message(sender.as_ref()) =>
            {
                Some((event, text.trim()))
            }
            _ => None,
        });
        let Some((event, message)) = user_message else { return Ok(None) };
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
        Ok(Some(RecognisedAnswer { inquiry: inquiry.id, knowledge_key, confidence }))
    }

    /// Returns the question that was shown in the turn before this one, if it is still open.
    async fn shown_before(&self, session: &SessionId) -> Result<Option<Inquiry>, LibrarianError> {
        let Some(turns) = self.turns(session).await? else { return Ok(None) };
        let statement = Statement::new(
            "SELECT inquiry FROM inquiry_shown WHERE session = $1 AND number = $2 LIMIT 1",
        );
        let statement = statement.bind(session.as_str()).bind(turns - 1);
        let rows = self.database().query(statement).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        match self.find(row.text(0)?).await {
            Ok(inquiry) if inquiry.state == InquiryState::Pending => Ok(Some(inquiry)),
            // It was shown to a client, in a conversation that the owner continues.
            Ok(_) | Err(LibrarianError::NoInquiry { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns why a message is taken for an answer; none if it is not.
    async fn certainty(
        &self,
        inquiry: &Inquiry,
        message: &str,
    ) -> Result<Option<String>, LibrarianError> {
        if !is_statement(message) || message.chars().count() > MAX_ANSWER_CHARACTERS {
            return Ok(None);
        }
        let (topic, words) = (significant_words(&inquiry.topic), significant_words(message));
        let covered = word_coverage(&topic, &words);
        let new = words.difference(&topic).count();
        if covered < MIN_TOPIC_COVERAGE || new < MIN_NEW_WORD_COUNT {
            return Ok(None);
        }
        let mut reason = format!("it takes up {:.0} % of the question's words", covered * 100.0);
        if let Some(similarity) = self.similarity(&inquiry.question, message).await {
            if similarity < MIN_SIMILARITY {
                return Ok(None);
            }
            reason += &format!(", similarity in meaning {similarity:.2}");
        }
        Ok(Some(format!("recognised as an answer to {:?}: {reason}", inquiry.question)))
    }

    /// Returns the similarity of two texts. Returns none if the embedding model does not answer.
    async fn similarity(&self, one: &str, other: &str) -> Option<f32> {
        let retrieval = self.knowledge.retrieval();
        retrieval.embedder()?;
        let vectors = async {
            Ok::<_, RetrievalError>((
                retrieval.query_vector(one).await?,
                retrieval.query_vector(other).await?,
            ))
        };
        let (one, other) = vectors
            .await
            .inspect_err(|error| tracing::warn!(%error, "two texts could not be compared"))
            .ok()?;
        Some(one.iter().zip(&other).map(|(a, b)| a * b).sum())
    }
}

/// Tells whether a message is a statement, not a question or a request.
fn is_statement(message: &str) -> bool {
    let first = message.split(|c: char| !c.is_alphanumeric()).find(|word| !word.is_empty());
    let wants = first.is_none_or(|word| REQUEST_WORDS.contains(&word.to_lowercase().as_str()));
    !wants && !message.contains('?')
}
