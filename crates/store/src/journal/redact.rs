//! Removes text from stored events.
//!
//! This is the one exception to the append-only journal: a person may want something forgotten.
//! Texts change; events, their order, their types and their ids stay, and of calls and approvals a
//! digest of what they were. The caller decides which text is removed.

use std::sync::Arc;

use lango_protocol::{
    CallReport, DirectCall, EventBody, Outcome, OutcomeStatus, SessionId, Timestamp,
};
use lango_text::hex;
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::Journal;
use super::checksum::{output_checksum, replace_text};
use crate::{Batch, SqlValue, Statement, StoreError};

/// Selects the text to remove. Implemented by the caller.
pub trait Redaction: Send + Sync {
    /// Tells whether a stored text could contain something to remove. Called with raw JSON too, so
    /// false positives are fine, but false negatives are not.
    fn concerns(&self, raw: &str) -> bool;

    /// Returns the text without the removed parts; none if it is unchanged.
    fn redact(&self, text: &str) -> Option<String>;

    /// Tells whether the texts of a session may change.
    fn covers(&self, _session: &str) -> bool {
        true
    }
}

/// The result of a redaction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RedactionReport {
    /// The number of changed events, outputs and titles.
    pub places: u64,
    /// The number of skipped events whose turn has not ended.
    pub open: u64,
}

/// A call or an approval that words were removed from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RedactedEvent {
    /// The position of the event in its session.
    pub seq: u64,
    /// The SHA-256 of the event's body in JSON before the first redaction, in hexadecimal.
    pub digest: String,
    /// The time of the first redaction.
    pub redacted_at: Timestamp,
}

/// The number of events that one step reads.
const PAGE_ROW_COUNT: i64 = 500;

impl Journal {
    /// Removes text from the events, the outputs and the titles of the sessions that the redaction
    /// covers. Events of
    /// unfinished turns are skipped: their process still holds them and needs their content. It can
    /// be stopped and repeated at any time.
    pub async fn redact(&self, redaction: &dyn Redaction) -> Result<RedactionReport, StoreError> {
        let mut done = RedactionReport::default();
        self.redact_events(redaction, &mut done).await?;
        self.redact_outputs(redaction, &mut done).await?;
        self.redact_titles(redaction, &mut done).await?;
        if done.places > 0 {
            self.count_redaction();
        }
        Ok(done)
    }

    /// Returns the calls and approvals of a session that words were removed from.
    pub async fn list_redacted_events(
        &self,
        session: &SessionId,
    ) -> Result<Vec<RedactedEvent>, StoreError> {
        let statement = Statement::new(
            "SELECT seq, digest, redacted_at FROM redacted_events WHERE session = $1 ORDER BY seq",
        );
        let rows = self.database.query(statement.bind(session.as_str())).await?;
        rows.iter()
            .map(|row| {
                Ok(RedactedEvent {
                    seq: row.unsigned(0)?,
                    digest: row.text(1)?.to_owned(),
                    redacted_at: Timestamp::from_microseconds(row.integer(2)?),
                })
            })
            .collect()
    }

    async fn redact_events(
        &self,
        redaction: &dyn Redaction,
        done: &mut RedactionReport,
    ) -> Result<(), StoreError> {
        let (mut session, mut seq) = (String::new(), 0);
        loop {
            let statement = Statement::new(
                "SELECT e.session, e.seq, e.payload, EXISTS (SELECT 1 FROM open_turns AS t \
                 WHERE t.session = e.session AND t.id = e.turn), e.checksum FROM events AS e \
                 WHERE e.session > $1 OR (e.session = $1 AND e.seq > $2) \
                 ORDER BY e.session, e.seq LIMIT $3",
            );
            let statement = statement.bind(session.as_str()).bind(seq).bind(PAGE_ROW_COUNT);
            let rows = self.database.query(statement).await?;
            let Some(last) = rows.last() else { return Ok(()) };
            (session, seq) = (last.text(0)?.to_owned(), last.integer(1)?);
            let (mut batch, mut digests) = (Batch::new(), 0);
            for row in &rows {
                let payload = row.text(2)?;
                if !redaction.covers(row.text(0)?) || !redaction.concerns(payload) {
                    continue;
                }
                let Some(body) = redact_event(self.parse_body(payload)?, redaction) else {
                    continue;
                };
                if row.boolean(3)? {
                    done.open += 1;
                    continue;
                }
                if is_audited(&body) {
                    batch.push(keep_digest(row.text(0)?, row.integer(1)?, payload));
                    digests += 1;
                }
                let new =
                    serde_json::to_string(&body).map_err(|error| StoreError::query(&error))?;
                let checksum = row
                    .optional_integer(4)?
                    .map(|old| replace_text(old, payload.as_bytes(), new.as_bytes()));
                // Only if it is unchanged; otherwise the next run handles it.
                batch.push(
                    Statement::new(
                        "UPDATE events SET payload = $3, checksum = $5 \
                         WHERE session = $1 AND seq = $2 AND payload = $4",
                    )
                    .bind(row.text(0)?)
                    .bind(row.integer(1)?)
                    .bind(new)
                    .bind(payload)
                    .bind(checksum),
                );
            }
            let changed: u64 = self.database.write(batch).await?.iter().sum();
            done.places += changed.saturating_sub(digests);
        }
    }

    async fn redact_outputs(
        &self,
        redaction: &dyn Redaction,
        done: &mut RedactionReport,
    ) -> Result<(), StoreError> {
        let keys = Statement::new("SELECT session, reference FROM outputs ORDER BY 1, 2");
        for key in self.database.query(keys).await? {
            let (session, reference) = (key.text(0)?, key.text(1)?);
            if !redaction.covers(session) {
                continue;
            }
            let one = Statement::new(
                "SELECT text FROM outputs WHERE session = $1 AND reference = $2 \
                 AND session NOT IN (SELECT session FROM open_turns)",
            );
            let rows = self.database.query(one.bind(session).bind(reference)).await?;
            let Some(row) = rows.first() else { continue };
            // An image is not text.
            let Ok(text) = std::str::from_utf8(row.blob(0)?) else { continue };
            if !text.contains(char::is_whitespace) || !redaction.concerns(text) {
                continue;
            }
            if let Some(new) = redaction.redact(text) {
                let update = Statement::new(
                    "UPDATE outputs SET text = $3, checksum = $4 \
                     WHERE session = $1 AND reference = $2",
                );
                let checksum = output_checksum(session, reference, new.as_bytes());
                let update = update.bind(session).bind(reference);
                let update = update.bind(new.into_bytes()).bind(checksum);
                done.places += self.database.write(update.into()).await?.iter().sum::<u64>();
            }
        }
        Ok(())
    }

    async fn redact_titles(
        &self,
        redaction: &dyn Redaction,
        done: &mut RedactionReport,
    ) -> Result<(), StoreError> {
        let rows = self.database.query(Statement::new("SELECT id, title FROM sessions")).await?;
        let mut batch = Batch::new();
        for row in &rows {
            if !redaction.covers(row.text(0)?) {
                continue;
            }
            if let Some(new) = redaction.redact(row.text(1)?) {
                batch.push(
                    Statement::new("UPDATE sessions SET title = $2 WHERE id = $1")
                        .bind(row.text(0)?)
                        .bind(SqlValue::from(new)),
                );
            }
        }
        done.places += self.database.write(batch).await?.iter().sum::<u64>();
        Ok(())
    }
}

/// Tells whether an event is a part of the audit trail: what an agent did, and who allowed it.
fn is_audited(body: &EventBody) -> bool {
    matches!(
        body,
        EventBody::ToolCall { .. }
            | EventBody::ToolStarted { .. }
            | EventBody::ApprovalRequested { .. }
            | EventBody::ApprovalResolved { .. }
            | EventBody::UserMessage { call: Some(_), .. }
    )
}

/// Returns the statement that keeps the digest of an event as it is now, unless one is kept already.
fn keep_digest(session: &str, seq: i64, payload: &str) -> Statement {
    Statement::new(
        "INSERT INTO redacted_events (session, seq, digest, redacted_at) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (session, seq) DO UPDATE SET seq = excluded.seq",
    )
    .bind(session)
    .bind(seq)
    .bind(hex(Sha256::digest(payload)))
    .bind(Timestamp::now().as_microseconds())
}

/// Returns the event without the removed text; none if it is unchanged. Every text of a person, a
/// model or a tool is checked; names, ids and digests are not.
fn redact_event(mut body: EventBody, redaction: &dyn Redaction) -> Option<EventBody> {
    let mut changed = false;
    let mut text = |text: &mut String| {
        if let Some(new) = redaction.redact(text) {
            *text = new;
            changed = true;
        }
    };
    match &mut body {
        EventBody::UserMessage { text: said, attachment, call, .. } => {
            text(said);
            attachment.iter_mut().for_each(&mut text);
            if let Some(DirectCall { arguments, .. }) = call {
                changed |= redact_json(arguments, redaction);
            }
        }
        EventBody::TextDelta { text: said, .. }
        | EventBody::Message { text: said, .. }
        | EventBody::TransferFinished { text: said, .. }
        | EventBody::Warning { text: said, .. } => text(said),
        EventBody::ToolCall { tool, arguments, .. } => {
            text(tool);
            changed |= redact_json(arguments, redaction);
        }
        EventBody::ToolResult { output, report, .. } => {
            text(output);
            if let Some(report) = report {
                changed |= redact_report(Arc::make_mut(report), redaction);
            }
        }
        EventBody::Transfer { task, .. } => text(task),
        EventBody::TransferRefused { requested, reason, .. } => {
            text(requested);
            text(reason);
        }
        EventBody::Rejected { reason } | EventBody::Setback { reason, .. } => text(reason),
        EventBody::ApprovalRequested { summary, always, .. } => {
            text(summary);
            always.iter_mut().for_each(text);
        }
        EventBody::ApprovalResolved { by, .. } => text(by),
        EventBody::Reasoning { text: thoughts, provider_state, .. } => {
            text(thoughts);
            // It is signed by its provider, so it cannot be changed; and it is not needed after its
            // turn.
            if provider_state.as_ref().is_some_and(|data| redaction.concerns(data)) {
                *provider_state = None;
                changed = true;
            }
        }
        EventBody::TurnFinished(Outcome { status, .. }) => match status {
            OutcomeStatus::Rejected { reason } | OutcomeStatus::Failed { reason, .. } => {
                text(reason);
            }
            OutcomeStatus::Done
            | OutcomeStatus::NeedsInput
            | OutcomeStatus::TimedOut
            | OutcomeStatus::Cancelled => {}
        },
        EventBody::ToolStarted { .. } | EventBody::Usage { .. } => {}
    }
    changed.then_some(body)
}

/// Redacts the texts of a report. Returns whether anything changed.
fn redact_report(report: &mut CallReport, redaction: &dyn Redaction) -> bool {
    let mut changed = false;
    let mut change = |text: &str| match redaction.redact(text) {
        Some(new) => {
            changed = true;
            new
        }
        None => text.to_owned(),
    };
    let mut data = report.data.take();
    *report = std::mem::take(report).map_text(&mut change);
    if let Some(data) = &mut data {
        changed |= redact_value(data, redaction);
    }
    report.data = data;
    changed
}

/// Redacts the texts inside JSON, unescaped; other content is treated as one text. Returns whether
/// anything changed.
fn redact_json(json: &mut String, redaction: &dyn Redaction) -> bool {
    let new = match serde_json::from_str::<Value>(json) {
        Ok(mut value) => redact_value(&mut value, redaction).then(|| value.to_string()),
        Err(_) => redaction.redact(json),
    };
    let changed = new.is_some();
    if let Some(new) = new {
        *json = new;
    }
    changed
}

/// Redacts every text in a JSON value, including member names. Returns whether anything changed.
fn redact_value(value: &mut Value, redaction: &dyn Redaction) -> bool {
    match value {
        Value::String(text) => {
            let new = redaction.redact(text);
            let changed = new.is_some();
            if let Some(new) = new {
                *text = new;
            }
            changed
        }
        Value::Array(items) => {
            // Processes all of them, not only the first.
            items.iter_mut().filter_map(|item| redact_value(item, redaction).then_some(())).count()
                > 0
        }
        Value::Object(members) => {
            let mut changed = false;
            let old = std::mem::take(members);
            for (name, mut member) in old {
                changed = redact_value(&mut member, redaction) || changed;
                let new = redaction.redact(&name);
                changed = changed || new.is_some();
                members.insert(new.unwrap_or(name), member);
            }
            changed
        }
        // A number can be what must be forgotten.
        Value::Number(number) => match redaction.redact(&number.to_string()) {
            Some(new) => {
                *value = Value::String(new);
                true
            }
            None => false,
        },
        Value::Null | Value::Bool(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use lango_protocol::CallId;

    use super::*;

    struct Word(&'static str);

    impl Redaction for Word {
        fn concerns(&self, raw: &str) -> bool {
            raw.contains(self.0)
        }

        fn redact(&self, text: &str) -> Option<String> {
            text.contains(self.0).then(|| text.replace(self.0, "[gone]"))
        }
    }

    #[test]
    fn arguments_stay_json_whatever_is_in_them() {
        let call = EventBody::ToolCall {
            call: CallId::generate(),
            tool: "memory_store".into(),
            arguments: r#"{"content":"a \"pelican\"","pelican":[7741,{"x":"pelican"}]}"#.into(),
            read_only: false,
        };
        let Some(EventBody::ToolCall { arguments, .. }) =
            redact_event(call.clone(), &Word("pelican"))
        else {
            panic!("it was there");
        };
        assert_eq!(arguments, r#"{"[gone]":[7741,{"x":"[gone]"}],"content":"a \"[gone]\""}"#);
        let Some(EventBody::ToolCall { arguments, .. }) = redact_event(call.clone(), &Word("7741"))
        else {
            panic!("it was there");
        };
        assert!(arguments.contains(r#"["[gone]","#), "{arguments}");
        assert_eq!(redact_event(call, &Word("heron")), None);
    }

    #[test]
    fn what_a_provider_signed_goes_as_a_whole() {
        let thoughts = EventBody::Reasoning {
            model: "p/m".into(),
            text: "hm".into(),
            provider_state: Some(r#"{"thinking":"a pelican","signature":"x"}"#.into()),
        };
        let kept = redact_event(thoughts, &Word("pelican"));
        let expected =
            EventBody::Reasoning { model: "p/m".into(), text: "hm".into(), provider_state: None };
        assert_eq!(kept, Some(expected));
    }
}
