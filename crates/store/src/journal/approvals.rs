//! Questions that wait for a person, and their answers, which may come from any process.
//!
//! The first answer counts and no other; it is bound to the digest of what was shown.

use lango_protocol::{ApprovalDecision, CallId, Event, EventBody, SessionId, Timestamp};

use super::Journal;
use crate::{Batch, Row, Statement, StoreError};

/// A question that waits.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingApproval {
    /// The event that asked: an [`EventBody::ApprovalRequested`].
    pub event: Event,
    /// The call that waits; also the name of the question.
    pub call: CallId,
    /// What an answer is bound to.
    pub digest: String,
    /// Counts as denied from then on.
    pub expires_at: Timestamp,
    /// The answer, where the turn has not taken note of it yet.
    pub answer: Option<Answer>,
}

impl PendingApproval {
    /// Whether it is too late to answer.
    pub fn is_expired(&self) -> bool {
        self.expires_at <= Timestamp::now()
    }
}

/// An answer to a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// What was decided.
    pub decision: ApprovalDecision,
    /// Whether the same is to be allowed from now on.
    pub always: bool,
    /// Who decided.
    pub by: String,
}

/// What became of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerOutcome {
    /// It counts.
    Accepted,
    /// Somebody was first, it came too late, or nobody asks this.
    TooLate,
}

impl Journal {
    /// The questions that wait in turns that have not ended, the oldest first.
    pub async fn pending_approvals(&self) -> Result<Vec<PendingApproval>, StoreError> {
        let statement = Statement::new(concat!(
            "SELECT a.call, a.digest, a.expires_at, a.decision, a.always, a.answered_by, ",
            "a.session, a.seq FROM approvals AS a JOIN open_turns AS t ON t.session = a.session ",
            "WHERE a.seq >= t.first_seq ORDER BY a.session, a.seq",
        ));
        let rows = self.database.query(statement).await?;
        let mut pending = Vec::with_capacity(rows.len());
        for row in &rows {
            pending.push(self.pending_of(row).await?);
        }
        pending.sort_by_key(|pending| pending.event.at);
        Ok(pending)
    }

    /// The answer to a question that was asked with this digest, if one was given in time.
    pub async fn approval_answer(
        &self,
        call: &CallId,
        digest: &str,
    ) -> Result<Option<Answer>, StoreError> {
        let statement = Statement::new(
            "SELECT decision, always, answered_by FROM approvals WHERE call = $1 AND digest = $2",
        )
        .bind(call.as_str())
        .bind(digest)
        .brief();
        let rows = self.database.query(statement).await?;
        rows.first().map_or(Ok(None), |row| answer_in(row, 0))
    }

    /// Answers a question, as it was shown. The first answer counts.
    pub async fn answer_approval(
        &self,
        call: &CallId,
        digest: &str,
        answer: &Answer,
    ) -> Result<AnswerOutcome, StoreError> {
        let statement = Statement::new(
            "UPDATE approvals SET decision = $3, always = $4, answered_by = $5 \
             WHERE call = $1 AND digest = $2 AND decision IS NULL AND expires_at > $6",
        )
        .bind(call.as_str())
        .bind(digest)
        .bind(name(answer.decision))
        .bind(answer.always)
        .bind(answer.by.as_str())
        .bind(Timestamp::now().as_microseconds());
        let changed = self.database.write(statement.into()).await?;
        Ok(if changed == [1] { AnswerOutcome::Accepted } else { AnswerOutcome::TooLate })
    }

    async fn pending_of(&self, row: &Row) -> Result<PendingApproval, StoreError> {
        let session: SessionId = row.text(6)?.parse().map_err(|error| self.unreadable(&error))?;
        let event = self.events(&session, row.unsigned(7)?.saturating_sub(1), 1).await?.pop();
        Ok(PendingApproval {
            event: event.ok_or_else(|| StoreError::query("a question without its event"))?,
            call: row.text(0)?.parse().map_err(|error| self.unreadable(&error))?,
            digest: row.text(1)?.to_owned(),
            expires_at: Timestamp::from_microseconds(row.integer(2)?),
            answer: answer_in(row, 3)?,
        })
    }
}

fn answer_in(row: &Row, first: usize) -> Result<Option<Answer>, StoreError> {
    let decision = match row.optional_text(first)? {
        None => return Ok(None),
        Some("approved") => ApprovalDecision::Approved,
        // Whatever else stands there, nothing runs because of it.
        Some(_) => ApprovalDecision::Denied,
    };
    let by = row.optional_text(first + 2)?.unwrap_or_default().to_owned();
    Ok(Some(Answer { decision, always: row.boolean(first + 1)?, by }))
}

fn name(decision: ApprovalDecision) -> &'static str {
    match decision {
        ApprovalDecision::Approved => "approved",
        ApprovalDecision::Denied => "denied",
    }
}

/// The row of a question. Asked again for the same thing, it keeps an answer that was given
/// meanwhile; for anything else it forgets it.
pub(super) fn push_request(batch: &mut Batch, event: &Event) {
    let EventBody::ApprovalRequested { call, digest, expires_at, .. } = &event.body else { return };
    batch.push(
        Statement::new(
            "INSERT INTO approvals (call, session, seq, digest, expires_at) \
             VALUES ($1, $2, $3, $4, $5) ON CONFLICT (call) DO UPDATE SET \
             seq = excluded.seq, expires_at = excluded.expires_at, digest = excluded.digest, \
             decision = CASE WHEN approvals.digest = excluded.digest \
             THEN approvals.decision END",
        )
        .bind(call.as_str())
        .bind(event.session.as_str())
        .bind(i64::try_from(event.seq).unwrap_or(i64::MAX))
        .bind(digest.as_str())
        .bind(expires_at.map_or(0, Timestamp::as_microseconds)),
    );
}

/// Takes the row of a question away.
pub(super) fn remove(call: &CallId) -> Statement {
    Statement::new("DELETE FROM approvals WHERE call = $1").bind(call.as_str())
}
