//! Stores pending approval requests and their answers, which may come from any process.
//!
//! Only the first answer counts; it is bound to the digest of what was shown.

use lango_protocol::{ApprovalDecision, CallId, Event, EventBody, SessionId, Timestamp};

use super::Journal;
use crate::{Batch, Row, Statement, StoreError};

/// A pending approval request.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingApproval {
    /// The event of the request, an [`EventBody::ApprovalRequested`].
    pub event: Event,
    /// The pending call; also the id of the request.
    pub call: CallId,
    /// The digest that an answer is bound to.
    pub digest: String,
    /// The time from which it counts as denied.
    pub expires_at: Timestamp,
    /// The answer, until the turn has processed it.
    pub answer: Option<ApprovalAnswerRow>,
}

impl PendingApproval {
    /// Tells whether it is too late to answer.
    pub fn is_expired(&self) -> bool {
        self.expires_at <= Timestamp::now()
    }
}

/// An answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalAnswerRow {
    /// The decision.
    pub decision: ApprovalDecision,
    /// True if the same is allowed from now on.
    pub always: bool,
    /// The person or client that decided.
    pub by: String,
}

/// The result of an attempt to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AnswerOutcome {
    /// The answer counts.
    Accepted,
    /// There was an answer before, it came too late, or there is no such request.
    TooLate,
}

impl Journal {
    /// Returns the requests that are pending in unfinished turns, the oldest first.
    pub async fn list_pending_approvals(&self) -> Result<Vec<PendingApproval>, StoreError> {
        let statement = Statement::new(concat!(
            "SELECT a.call, a.digest, a.expires_at, a.decision, a.always, a.answered_by, ",
            "a.session, a.seq FROM approvals AS a JOIN open_turns AS t ON t.session = a.session ",
            "WHERE a.seq >= t.first_seq ORDER BY a.session, a.seq",
        ));
        let rows = self.database.query(statement).await?;
        let mut pending = Vec::with_capacity(rows.len());
        for row in &rows {
            pending.push(self.read_pending_approval(row).await?);
        }
        pending.sort_by_key(|pending| pending.event.at);
        Ok(pending)
    }

    /// Returns the answer to the request with this digest, if one was given in time.
    pub async fn find_approval_answer(
        &self,
        call: &CallId,
        digest: &str,
    ) -> Result<Option<ApprovalAnswerRow>, StoreError> {
        let statement = Statement::new(
            "SELECT decision, always, answered_by FROM approvals WHERE call = $1 AND digest = $2",
        )
        .bind(call.as_str())
        .bind(digest);
        let rows = self.database.query(statement).await?;
        rows.first().map_or(Ok(None), |row| answer_in(row, 0))
    }

    /// Answers a request, as it was shown. The first answer counts.
    pub async fn answer_approval(
        &self,
        call: &CallId,
        digest: &str,
        answer: &ApprovalAnswerRow,
    ) -> Result<AnswerOutcome, StoreError> {
        let statement = Statement::new(
            "UPDATE approvals SET decision = $3, always = $4, answered_by = $5 \
             WHERE call = $1 AND digest = $2 AND decision IS NULL AND expires_at > $6",
        )
        .bind(call.as_str())
        .bind(digest)
        .bind(decision_name(answer.decision))
        .bind(answer.always)
        .bind(answer.by.as_str())
        .bind(Timestamp::now().as_microseconds());
        let changed = self.database.write(statement.into()).await?;
        Ok(if changed == [1] { AnswerOutcome::Accepted } else { AnswerOutcome::TooLate })
    }

    async fn read_pending_approval(&self, row: &Row) -> Result<PendingApproval, StoreError> {
        let session: SessionId =
            row.text(6)?.parse().map_err(|error| self.unreadable_row_error(&error))?;
        let event = self.read_events(&session, row.unsigned(7)?.saturating_sub(1), 1).await?.pop();
        Ok(PendingApproval {
            event: event.ok_or_else(|| StoreError::query("a question without its event"))?,
            call: row.text(0)?.parse().map_err(|error| self.unreadable_row_error(&error))?,
            digest: row.text(1)?.to_owned(),
            expires_at: Timestamp::from_microseconds(row.integer(2)?),
            answer: answer_in(row, 3)?,
        })
    }
}

fn answer_in(row: &Row, first: usize) -> Result<Option<ApprovalAnswerRow>, StoreError> {
    let decision = match row.optional_text(first)? {
        None => return Ok(None),
        Some("approved") => ApprovalDecision::Approved,
        // An unknown value must never approve a call.
        Some(_) => ApprovalDecision::Denied,
    };
    let by = row.optional_text(first + 2)?.unwrap_or_default().to_owned();
    Ok(Some(ApprovalAnswerRow { decision, always: row.boolean(first + 1)?, by }))
}

fn decision_name(decision: ApprovalDecision) -> &'static str {
    match decision {
        ApprovalDecision::Approved => "approved",
        ApprovalDecision::Denied => "denied",
    }
}

/// Adds the row of a request. A repeated request for the same thing keeps an answer that was given
/// meanwhile; any other request clears it.
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

/// Returns the statement that removes the row of a request.
pub(super) fn build_removal(call: &CallId) -> Statement {
    Statement::new("DELETE FROM approvals WHERE call = $1").bind(call.as_str())
}
