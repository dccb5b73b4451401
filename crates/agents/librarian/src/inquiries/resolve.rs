//! Answers and dismisses questions.

use lango_protocol::Timestamp;
use lango_store::Statement;
use lango_text::ellipsize_characters;
use serde::Serialize;

use super::{Inquiries, Inquiry, InquiryState};
use crate::knowledge::{KnowledgeCategory, NewKnowledge, SavedKnowledge};
use crate::text::check_text;
use crate::{LibrarianError, Provenance};

const MAX_ANSWER_CHARACTERS: usize = 10_000;
/// Limits the topic in a key.
const MAX_KEY_TOPIC_CHARACTERS: usize = 150;

/// Represents a question with its saved answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AnsweredInquiry {
    /// The question.
    pub question: String,
    /// The key under which the answer is stored.
    #[serde(flatten)]
    pub saved: SavedKnowledge,
}

impl Inquiries {
    /// Saves the answer to an open question as knowledge and closes the question, in one
    /// transaction.
    pub async fn answer(
        &self,
        id: &str,
        answer: &str,
        provenance: Provenance,
        confidence: Option<String>,
    ) -> Result<AnsweredInquiry, LibrarianError> {
        let inquiry = self.find_open(id).await?;
        let answer = check_text("answer", answer, MAX_ANSWER_CHARACTERS)?;
        let key = key(&inquiry);
        let resolve = Statement::new(
            "UPDATE inquiries SET state = 'answered', answer = $2, knowledge_key = $3, \
             resolved_at = $4 WHERE id = $1 AND state = 'pending' AND client = $5",
        )
        .bind(inquiry.id.as_str())
        .bind(answer.as_str())
        .bind(key.as_str())
        .bind(Timestamp::now().as_microseconds())
        .bind(self.client())
        .expect_rows(1);
        let new = NewKnowledge {
            key,
            content: format!("{}\n{answer}", inquiry.question),
            category: KnowledgeCategory::Fact,
            tags: Vec::new(),
            provenance,
            confidence,
        };
        let saved = self.knowledge.save_with(new, vec![resolve]).await?;
        Ok(AnsweredInquiry { question: inquiry.question, saved })
    }

    /// Closes an open question that the user does not want to answer. It is never asked again.
    pub async fn dismiss(&self, id: &str) -> Result<Inquiry, LibrarianError> {
        let inquiry = self.find_open(id).await?;
        let dismiss = Statement::new(
            "UPDATE inquiries SET state = 'dismissed', resolved_at = $2 \
             WHERE id = $1 AND state = 'pending' AND client = $3",
        )
        .bind(inquiry.id.as_str())
        .bind(Timestamp::now().as_microseconds())
        .bind(self.client());
        self.database().write(dismiss.into()).await?;
        Ok(Inquiry { state: InquiryState::Dismissed, ..inquiry })
    }

    async fn find_open(&self, id: &str) -> Result<Inquiry, LibrarianError> {
        self.expire().await?;
        let inquiry = self.find(id).await?;
        if inquiry.state != InquiryState::Pending {
            let state = inquiry.state.to_string();
            return Err(LibrarianError::InquiryClosed { id: inquiry.id, state });
        }
        Ok(inquiry)
    }
}

/// Returns the key of an answer, which names the topic.
fn key(inquiry: &Inquiry) -> String {
    let plain: String = inquiry.topic.chars().filter(|c| !c.is_control()).collect();
    format!("answer: {}", ellipsize_characters(&plain, MAX_KEY_TOPIC_CHARACTERS))
}
