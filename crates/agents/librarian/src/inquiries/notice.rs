//! Turns gaps into questions, within the limit and if they were not asked before.

use lango_protocol::{CallId, SessionId, Timestamp};
use lango_store::{Batch, Statement, StoreError};
use lango_text::{jaccard_similarity, word_coverage};

use super::{Gap, Inquiries, InquiryState};
use crate::LibrarianError;
use crate::text::significant_words;

/// Sets the similarity from which two questions have the same topic.
const MIN_TOPIC_SIMILARITY: f64 = 0.5;
/// Limits the earlier questions that are compared.
const MAX_COMPARED_COUNT: u32 = 500;
/// Limits the knowledge hits that are compared.
const MAX_HIT_COUNT: usize = 5;

impl Inquiries {
    /// Records questions about gaps, up to the limit. Returns the ids of new questions.
    pub async fn notice(
        &self,
        session: &SessionId,
        gaps: &[Gap],
    ) -> Result<Vec<String>, LibrarianError> {
        let mut new = Vec::new();
        if gaps.is_empty() {
            return Ok(new);
        }
        self.expire().await?;
        for gap in gaps {
            if self.is_settled(gap).await? || self.is_known(gap).await? {
                continue;
            }
            let id = CallId::generate().to_string();
            let now = Timestamp::now();
            // Counted in the same statement, so that two processes cannot both take the last slot.
            let insert = Statement::new(
                "INSERT INTO inquiries (id, topic, question, why, priority, session, state, \
                 created_at, expires_at, client) \
                 SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS TEXT), CAST($4 AS TEXT), \
                 CAST($5 AS BIGINT), CAST($6 AS TEXT), 'pending', CAST($7 AS BIGINT), \
                 CAST($8 AS BIGINT), CAST($10 AS TEXT) \
                 WHERE (SELECT COUNT(*) FROM inquiries \
                 WHERE client = $10 AND state = 'pending') < $9",
            )
            .bind(id.as_str())
            .bind(without_nul(&gap.topic))
            .bind(without_nul(&gap.question))
            .bind(without_nul(&gap.why))
            .bind(gap.priority)
            .bind(session.as_str())
            .bind(now.as_microseconds())
            .bind(now.plus(self.settings.expires_after).as_microseconds())
            .bind(self.settings.max_pending)
            .bind(self.client())
            .expect_rows(1);
            match self.database().write(Batch::from(insert)).await {
                Ok(_) => new.push(id),
                // There are enough open questions.
                Err(StoreError::Conflict { .. }) => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(new)
    }

    /// Tells whether this was asked before. An expired question may be asked again.
    async fn is_settled(&self, gap: &Gap) -> Result<bool, LibrarianError> {
        let words = significant_words(&gap.topic);
        let earlier = self.all(MAX_COMPARED_COUNT).await?;
        let same = |topic: &str| {
            jaccard_similarity(&significant_words(topic), &words) >= MIN_TOPIC_SIMILARITY
        };
        Ok(words.is_empty()
            || earlier.iter().any(|one| one.state != InquiryState::Expired && same(&one.topic)))
    }

    /// Tells whether stored knowledge covers the gap already.
    async fn is_known(&self, gap: &Gap) -> Result<bool, LibrarianError> {
        let words = significant_words(&gap.topic);
        let found = self.knowledge.search(&gap.topic, None, MAX_HIT_COUNT).await?;
        let says =
            |text: String| word_coverage(&words, &significant_words(&text)) >= MIN_TOPIC_SIMILARITY;
        Ok(found.hits.into_iter().any(|hit| says(format!("{} {}", hit.key, hit.text))))
    }
}

fn without_nul(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}
