//! Answering and dismissing questions.

use lango_protocol::Timestamp;
use lango_store::Statement;
use serde::Serialize;

use super::{Inquiries, Inquiry, InquiryState};
use crate::knowledge::{Category, NewKnowledge, Saved};
use crate::text::{checked, shortened};
use crate::{LibrarianError, Provenance};

const LONGEST_ANSWER: usize = 10_000;
/// Characters of a topic in a key.
const TOPIC: usize = 150;

/// What was learnt.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answered {
    /// The question.
    pub question: String,
    /// Where the answer is kept.
    #[serde(flatten)]
    pub saved: Saved,
}

impl Inquiries {
    /// Saves the answer to an open question as knowledge and closes the question, both or neither.
    pub async fn answer(
        &self,
        id: &str,
        answer: &str,
        provenance: Provenance,
        confidence: Option<String>,
    ) -> Result<Answered, LibrarianError> {
        let inquiry = self.open_one(id).await?;
        let answer = checked("answer", answer, LONGEST_ANSWER)?;
        let key = key(&inquiry);
        let resolve = Statement::new(
            "UPDATE inquiries SET state = 'answered', answer = $2, knowledge_key = $3, \
             resolved_at = $4 WHERE id = $1 AND state = 'pending'",
        )
        .bind(inquiry.id.as_str())
        .bind(answer.as_str())
        .bind(key.as_str())
        .bind(Timestamp::now().as_microseconds())
        .expect_rows(1);
        let new = NewKnowledge {
            key,
            content: format!("{}\n{answer}", inquiry.question),
            category: Category::Fact,
            tags: Vec::new(),
            provenance,
            confidence,
        };
        let saved = self.knowledge.save_with(new, vec![resolve]).await?;
        Ok(Answered { question: inquiry.question, saved })
    }

    /// Closes an open question that the user does not want to answer. It is never asked again.
    pub async fn dismiss(&self, id: &str) -> Result<Inquiry, LibrarianError> {
        let inquiry = self.open_one(id).await?;
        let dismiss = Statement::new(
            "UPDATE inquiries SET state = 'dismissed', resolved_at = $2 \
             WHERE id = $1 AND state = 'pending'",
        )
        .bind(inquiry.id.as_str())
        .bind(Timestamp::now().as_microseconds());
        self.database().write(dismiss.into()).await?;
        Ok(Inquiry { state: InquiryState::Dismissed, ..inquiry })
    }

    async fn open_one(&self, id: &str) -> Result<Inquiry, LibrarianError> {
        self.expire().await?;
        let inquiry = self.find(id).await?;
        if inquiry.state != InquiryState::Pending {
            let state = inquiry.state.to_string();
            return Err(LibrarianError::InquiryClosed { id: inquiry.id, state });
        }
        Ok(inquiry)
    }
}

/// The key of an answer: what was asked about.
fn key(inquiry: &Inquiry) -> String {
    let plain: String = inquiry.topic.chars().filter(|c| !c.is_control()).collect();
    format!("answer: {}", shortened(&plain, TOPIC))
}
