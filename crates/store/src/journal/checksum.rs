//! Protects events and outputs with checksums, because a database checks its own structure and not
//! what is written in it.
//!
//! A checksum is the sum of two digests, of what identifies a row and of its text, so that a
//! redaction can replace the second one.

use sha2::{Digest as _, Sha256};

use super::Journal;
use crate::{Batch, RowView, Statement, StoreError};

/// Limits the problems that are reported.
const MAX_PROBLEM_COUNT: usize = 20;

/// The columns of an event that identify it and say where it belongs.
pub(super) struct EventColumns<'a> {
    pub(super) session: &'a str,
    pub(super) seq: i64,
    pub(super) id: &'a str,
    pub(super) turn: &'a str,
    pub(super) at: i64,
    pub(super) author: Option<&'a str>,
    pub(super) branch: Option<&'a str>,
    pub(super) step: Option<i64>,
    pub(super) kind: &'a str,
}

impl EventColumns<'_> {
    /// Returns the checksum of an event with this payload.
    pub(super) fn checksum(&self, payload: &str) -> i64 {
        let mut digest = Sha256::new();
        for text in [self.session, self.id, self.turn, self.kind] {
            add_text(&mut digest, Some(text));
        }
        add_text(&mut digest, self.author);
        add_text(&mut digest, self.branch);
        for number in [self.seq, self.at, self.step.unwrap_or(-1)] {
            digest.update(number.to_be_bytes());
        }
        shorten(digest).wrapping_add(text_checksum(payload.as_bytes()))
    }
}

/// Returns the checksum of an event or output after its text was replaced.
pub(super) fn replace_text(checksum: i64, old: &[u8], new: &[u8]) -> i64 {
    checksum.wrapping_sub(text_checksum(old)).wrapping_add(text_checksum(new))
}

/// Returns the checksum of an output.
pub(super) fn output_checksum(session: &str, reference: &str, text: &[u8]) -> i64 {
    let mut digest = Sha256::new();
    add_text(&mut digest, Some(session));
    add_text(&mut digest, Some(reference));
    shorten(digest).wrapping_add(text_checksum(text))
}

fn text_checksum(text: &[u8]) -> i64 {
    shorten(Sha256::new_with_prefix(text))
}

/// Adds a text with its length, so that no two rows have the same bytes.
fn add_text(digest: &mut Sha256, text: Option<&str>) {
    let length = text.map_or(u64::MAX, |text| text.len() as u64);
    digest.update(length.to_be_bytes());
    digest.update(text.unwrap_or_default());
}

fn shorten(digest: Sha256) -> i64 {
    let digest = digest.finalize();
    let mut short = [0; 8];
    short.copy_from_slice(&digest[..8]);
    i64::from_be_bytes(short)
}

/// What a check has seen so far.
#[derive(Clone, Default)]
struct CheckState {
    session: String,
    seq: i64,
    problems: Vec<String>,
    /// The events that are not as they were written.
    damaged: Vec<(String, i64)>,
}

impl CheckState {
    fn report(&mut self, problem: String) {
        if self.problems.len() < MAX_PROBLEM_COUNT {
            self.problems.push(problem);
        }
    }

    fn report_unreadable(&mut self, what: &str, seen: Result<(), StoreError>) {
        if let Err(error) = seen {
            self.report(format!("{what} cannot be read: {error}"));
        }
    }

    fn see_event(&mut self, row: &RowView<'_>) -> Result<(), StoreError> {
        let (session, seq) = (row.text(0)?, row.integer(1)?);
        if session != self.session {
            session.clone_into(&mut self.session);
            self.seq = 0;
        }
        if seq != self.seq + 1 {
            self.report(format!(
                "session {session}: event {} is missing (the next one is {seq})",
                self.seq + 1
            ));
        }
        self.seq = seq;
        let columns = EventColumns {
            session,
            seq,
            id: row.text(2)?,
            turn: row.text(3)?,
            at: row.integer(4)?,
            author: row.optional_text(5)?,
            branch: row.optional_text(6)?,
            step: row.optional_integer(7)?,
            kind: row.text(8)?,
        };
        // An event from before there were checksums has none.
        let Some(checksum) = row.optional_integer(10)? else { return Ok(()) };
        if columns.checksum(row.text(9)?) != checksum {
            self.report(format!("session {session}: event {seq} is not as it was written"));
            self.damaged.push((session.to_owned(), seq));
        }
        Ok(())
    }

    fn see_output(&mut self, row: &RowView<'_>) -> Result<(), StoreError> {
        let (session, reference) = (row.text(0)?, row.text(1)?);
        let Some(checksum) = row.optional_integer(3)? else { return Ok(()) };
        if output_checksum(session, reference, row.blob(2)?) != checksum {
            self.report(format!("session {session}: output {reference} is not as it was written"));
        }
        Ok(())
    }
}

impl Journal {
    /// Reads all events and outputs, and returns what is missing or not as it was written.
    pub async fn check(&self) -> Result<Vec<String>, StoreError> {
        let state = self.check_events().await?;
        let outputs = Statement::new("SELECT session, reference, text, checksum FROM outputs");
        let state = self
            .database
            .fold(outputs, state, |state, row| {
                let seen = state.see_output(row);
                state.report_unreadable("an output", seen);
                Ok(())
            })
            .await?;
        Ok(state.problems)
    }

    /// Removes events that are not as they were written, because a session with one of them cannot
    /// be read. Returns their sessions and positions.
    pub async fn remove_damaged_events(&self) -> Result<Vec<(String, i64)>, StoreError> {
        let damaged = self.check_events().await?.damaged;
        let mut batch = Batch::with_capacity(damaged.len());
        for (session, seq) in &damaged {
            let delete = Statement::new("DELETE FROM events WHERE session = $1 AND seq = $2");
            batch.push(delete.bind(session.as_str()).bind(*seq));
        }
        self.database.write(batch).await?;
        Ok(damaged)
    }

    async fn check_events(&self) -> Result<CheckState, StoreError> {
        let events = Statement::new(
            "SELECT session, seq, id, turn, at, author, branch, step, type, payload, checksum \
             FROM events ORDER BY session, seq",
        );
        self.database
            .fold(events, CheckState::default(), |state, row| {
                // A row that cannot be read is a problem of its own.
                let seen = state.see_event(row);
                state.report_unreadable("an event", seen);
                Ok(())
            })
            .await
    }
}
