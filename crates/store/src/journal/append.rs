//! Appends events, and updates the rows of turns and sessions that follow from them. This is the
//! hot path.

use std::borrow::Cow;

use lango_protocol::{Event, EventBody};

use super::claim::SessionClaim;
use super::clock::LeaseClock;
use super::queue::{self, QueuedTurn};
use super::{Journal, approvals, checksum, lease};
use crate::{Batch, Durability, Statement, StoreError};

/// Limits the title of a session.
const MAX_TITLE_CHARS: usize = 80;

/// The events and outputs of one commit.
#[derive(Debug, Clone, Default)]
pub struct JournalAppend<'a> {
    /// The events, with their positions. Events that are not durable are left out.
    pub events: Cow<'a, [Event]>,
    /// Outputs that were too long for an event.
    pub outputs: Vec<StoredOutput>,
    /// The failures that the commit must survive.
    pub durability: Durability,
    /// True to release the session in the same commit.
    pub release: bool,
    /// The queued turn that begins with these events; its row goes in the same commit.
    pub queued: Option<QueuedTurn>,
}

/// Where the turn of an event comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventSource {
    /// A client waits for it.
    Client,
    /// It was promised, and waited in the queue.
    Queue,
}

/// A long output, with the reference that an event has to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredOutput {
    /// The reference, unique in its session.
    pub reference: String,
    /// The whole text.
    pub text: String,
}

impl Journal {
    /// Appends events, all or none. Returns [`StoreError::Conflict`] if the claim was lost to
    /// another process, or if a position is already taken; nothing is written then.
    pub async fn append(
        &self,
        claim: &SessionClaim,
        append: JournalAppend<'_>,
    ) -> Result<(), StoreError> {
        let release = append.release;
        let batch = build_batch(self, claim, append)?;
        let written = self.database.write(batch).await.map(drop);
        if release && written.is_ok() {
            claim.mark_released();
        }
        self.explain_conflict(claim, written).await
    }
}

fn build_batch(
    journal: &Journal,
    claim: &SessionClaim,
    append: JournalAppend<'_>,
) -> Result<Batch, StoreError> {
    // One for the lease, and two more if a turn begins or ends.
    let mut batch = Batch::with_capacity(append.events.len() + append.outputs.len() + 3)
        .durability(append.durability);
    let durable = append.events.iter().filter(|event| event.body.is_durable());
    // Nothing is written unless the claim still holds the lease. Usually the first event carries
    // the condition: renewing the lease instead would write one more page with every commit.
    let mut fenced = true;
    let begins = |event: &Event| matches!(event.body, EventBody::UserMessage { .. });
    if append.release {
        batch.push(lease::build_release(claim.lease(), claim.token()).expect_rows(1));
    } else if durable.clone().next().is_none_or(begins) {
        // The rows of a turn that begins are written in the order of a claim: the lease first.
        batch.push(lease::build_renewal(journal.clock, claim.lease(), claim.token()));
    } else {
        fenced = false;
    }
    let source = match &append.queued {
        Some(turn) => {
            queue::push_beginning(&mut batch, turn);
            EventSource::Queue
        }
        None => EventSource::Client,
    };
    for event in durable {
        debug_assert_eq!(event.session, *claim.session(), "an event of another session");
        if fenced {
            push_event(&mut batch, event, source)?;
        } else {
            push_consequences(&mut batch, event, source)?;
            batch.push(insert_if_claimed(journal, event, claim)?);
            fenced = true;
        }
    }
    for output in append.outputs {
        batch.push(
            Statement::new(
                "INSERT INTO outputs (session, reference, checksum, text) VALUES ($1, $2, $3, $4)",
            )
            .bind(claim.session().as_str())
            .bind(output.reference.as_str())
            .bind(checksum::output_checksum(
                claim.session().as_str(),
                &output.reference,
                output.text.as_bytes(),
            ))
            .bind(output.text.into_bytes()),
        );
    }
    Ok(batch)
}

/// Adds an event and its consequences to a batch that already proves the claim.
pub(super) fn push_event(
    batch: &mut Batch,
    event: &Event,
    source: EventSource,
) -> Result<(), StoreError> {
    push_consequences(batch, event, source)?;
    batch.push(with_columns(
        event,
        "INSERT INTO events \
         (session, seq, id, turn, at, author, branch, step, type, payload, checksum) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
    )?);
    Ok(())
}

/// Writes the condition on the lease, with what an engine needs in addition.
macro_rules! insert_if_leased {
    ($lock:literal) => {
        concat!(
            "INSERT INTO events \
             (session, seq, id, turn, at, author, branch, step, type, payload, checksum) \
             SELECT $1, CAST($2 AS BIGINT), $3, $4, CAST($5 AS BIGINT), $6, $7, \
             CAST($8 AS BIGINT), $9, $10, CAST($11 AS BIGINT) \
             FROM leases WHERE name = $12 AND token = $13",
            $lock
        )
    };
}

/// Inserts an event only while the claim still holds the lease. The casts give PostgreSQL the types
/// that it cannot infer in a `SELECT`. There the row is locked too, because no other process may take
/// the lease between this look and the commit; SQLite has one writer.
fn insert_if_claimed(
    journal: &Journal,
    event: &Event,
    claim: &SessionClaim,
) -> Result<Statement, StoreError> {
    let sql = match journal.clock {
        LeaseClock::Machine => insert_if_leased!(""),
        LeaseClock::Server => insert_if_leased!(" FOR SHARE"),
    };
    let statement = with_columns(event, sql)?;
    Ok(statement.bind(claim.lease()).bind(claim.token()).expect_rows(1))
}

fn with_columns(event: &Event, sql: &'static str) -> Result<Statement, StoreError> {
    let payload = serde_json::to_string(&event.body).map_err(|error| StoreError::query(&error))?;
    let (id, turn) = (event.id.to_string(), event.turn.to_string());
    let columns = checksum::EventColumns {
        session: event.session.as_str(),
        seq: event_position(event)?,
        id: &id,
        turn: &turn,
        at: event.at.as_microseconds(),
        author: event.author.as_deref(),
        branch: event.branch.as_ref().map(lango_protocol::CallId::as_str),
        step: event.step.map(i64::from),
        kind: event.body.type_name(),
    };
    let checksum = columns.checksum(&payload);
    let mut statement = Statement::new(sql);
    statement.values = Vec::with_capacity(13);
    statement.values.extend([
        columns.session.into(),
        columns.seq.into(),
        id.as_str().into(),
        turn.as_str().into(),
        columns.at.into(),
        columns.author.into(),
        columns.branch.into(),
        columns.step.into(),
        columns.kind.into(),
        payload.into(),
        checksum.into(),
    ]);
    Ok(statement)
}

fn event_position(event: &Event) -> Result<i64, StoreError> {
    i64::try_from(event.seq).map_err(|error| StoreError::query(&error))
}

/// Updates the rows behind the lists, for the first and last events of turns and approvals.
fn push_consequences(
    batch: &mut Batch,
    event: &Event,
    source: EventSource,
) -> Result<(), StoreError> {
    let at = event.at.as_microseconds();
    let session = event.session.as_str();
    match &event.body {
        EventBody::UserMessage { text, .. } => {
            batch.push(
                Statement::new(
                    "INSERT INTO open_turns (session, first_seq, id, started_at, promised) \
                     VALUES ($1, $2, $3, $4, $5)",
                )
                .bind(session)
                .bind(event_position(event)?)
                .bind(event.turn.to_string())
                .bind(at)
                .bind(source == EventSource::Queue),
            );
            batch.push(
                Statement::new(
                    "UPDATE sessions SET updated_at = $2, turns = turns + 1, \
                     last_use = (SELECT COALESCE(MAX(last_use), 0) + 1 FROM sessions), \
                     title = CASE WHEN title = '' THEN $3 ELSE title END WHERE id = $1",
                )
                .bind(session)
                .bind(at)
                .bind(make_title(text)),
            );
        }
        EventBody::TurnFinished(_) => batch.push(
            Statement::new("DELETE FROM open_turns WHERE session = $1 AND id = $2")
                .bind(session)
                .bind(event.turn.to_string()),
        ),
        EventBody::ApprovalRequested { .. } => approvals::push_request(batch, event),
        EventBody::ApprovalResolved { call, .. } => batch.push(approvals::build_removal(call)),
        _ => {}
    }
    Ok(())
}

/// Returns the beginning of a message as one line, without control characters.
fn make_title(text: &str) -> String {
    let words = text.split(|character: char| character.is_whitespace() || character.is_control());
    let title: String = words
        .filter(|word| !word.is_empty())
        .flat_map(|word| std::iter::once(' ').chain(word.chars()))
        .skip(1)
        .take(MAX_TITLE_CHARS)
        .collect();
    title.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_title_is_the_beginning_of_the_message() {
        assert_eq!(make_title("  fix\n\tthe \u{1b}[31mbuild \n"), "fix the [31mbuild");
        assert_eq!(make_title(" \n "), "");
        assert_eq!(make_title(&"word ".repeat(100)), "word ".repeat(16).trim_end());
    }

    proptest! {
        #[test]
        fn a_title_is_one_bounded_line(text in any::<String>()) {
            let title = make_title(&text);
            prop_assert!(title.chars().count() <= MAX_TITLE_CHARS);
            prop_assert!(!title.contains(char::is_control));
            prop_assert_eq!(title.trim(), &title);
        }
    }
}
