//! What was said in a session and has not been observed yet.

use lango_model::estimate_tokens;
use lango_protocol::{Event, EventBody, SessionId, Timestamp, TurnId};
use lango_store::{Batch, Statement};

use crate::ChroniclerError;
use crate::memory::Stores;
use crate::record::SourceMessage;
use crate::remember::source;
use crate::shelf::position;
use crate::text::cut;

/// Events read at a time.
const PAGE: u32 = 200;

/// The longest message that is observed, in characters; of a longer one, the beginning.
const LONGEST_MESSAGE: usize = 8_000;

/// Up to where a session was worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Watermark {
    /// Statements of the user up to here were noted.
    pub(crate) noted: u64,
    /// The conversation up to here was observed.
    pub(crate) observed: u64,
}

/// A message.
#[derive(Debug, Clone)]
pub(crate) struct Said {
    pub(crate) source: SourceMessage,
    pub(crate) turn: TurnId,
    pub(crate) at: Timestamp,
    pub(crate) by_user: bool,
    pub(crate) text: String,
}

/// Whole turns, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Heard {
    pub(crate) messages: Vec<Said>,
    pub(crate) tokens: u64,
    /// Where the last turn ended.
    pub(crate) end: Option<(u64, TurnId)>,
}

impl Stores {
    pub(crate) async fn watermark(
        &self,
        session: &SessionId,
    ) -> Result<Watermark, ChroniclerError> {
        let statement =
            Statement::new("SELECT noted_seq, observed_seq FROM watermarks WHERE session = $1");
        let rows = self.database.query(statement.bind(session.as_str()).brief()).await?;
        match rows.first() {
            Some(row) => Ok(Watermark { noted: row.unsigned(0)?, observed: row.unsigned(1)? }),
            None => Ok(Watermark { noted: 0, observed: 0 }),
        }
    }

    /// Makes the row of a session, so that moving its mark changes one row.
    pub(crate) async fn ensure_watermark(
        &self,
        session: &SessionId,
    ) -> Result<(), ChroniclerError> {
        let statement = Statement::new(
            "INSERT INTO watermarks (session, noted_seq, observed_seq, last_turn) \
             VALUES ($1, 0, 0, '') ON CONFLICT DO NOTHING",
        );
        self.database.write(Batch::from(statement.bind(session.as_str()))).await?;
        Ok(())
    }

    /// Whole finished turns after a position, until they have `most` tokens. At least one turn, if
    /// there is one.
    pub(crate) async fn heard(
        &self,
        session: &SessionId,
        after: u64,
        most: u64,
    ) -> Result<Heard, ChroniclerError> {
        let mut heard = Heard::default();
        let mut turn = Heard::default();
        let mut from = after;
        loop {
            let events = self.journal.said(session, from, PAGE).await?;
            let Some(last) = events.last() else { return Ok(heard) };
            from = last.seq;
            for event in &events {
                if let Some(said) = said(event) {
                    turn.tokens += estimate_tokens(&said.text);
                    turn.messages.push(said);
                } else if matches!(event.body, EventBody::TurnFinished(_)) {
                    if heard.end.is_some() && heard.tokens + turn.tokens > most {
                        return Ok(heard);
                    }
                    heard.tokens += turn.tokens;
                    heard.messages.append(&mut turn.messages);
                    heard.end = Some((event.seq, event.turn));
                    turn = Heard::default();
                }
            }
        }
    }
}

/// What an event says; nothing for remarks on the way.
fn said(event: &Event) -> Option<Said> {
    let (by_user, text) = match &event.body {
        EventBody::UserMessage { text, sender, .. } => (sender.is_none(), text),
        EventBody::Message { text, answer: true } => (false, text),
        _ => return None,
    };
    Some(Said {
        source: source(event),
        turn: event.turn,
        at: event.at,
        by_user,
        text: cut(text, LONGEST_MESSAGE),
    })
}

/// Moves one of the two marks of a session, if it is still where it was.
pub(crate) fn move_mark(
    session: &SessionId,
    noted: bool,
    from: u64,
    to: (u64, TurnId),
) -> Statement {
    let sql = if noted {
        "UPDATE watermarks SET noted_seq = $3, last_turn = $4 WHERE session = $1 AND noted_seq = $2"
    } else {
        "UPDATE watermarks SET observed_seq = $3, last_turn = $4 \
         WHERE session = $1 AND observed_seq = $2"
    };
    Statement::new(sql)
        .bind(session.as_str())
        .bind(position(from))
        .bind(position(to.0))
        .bind(to.1.to_string())
        .expect_rows(1)
}

/// A date at noon UTC, as observations have it.
pub(crate) fn noon(date: &str) -> Option<Timestamp> {
    let date: jiff::civil::Date = date.parse().ok()?;
    let noon = date.at(12, 0, 0, 0).to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(Timestamp::from_microseconds(noon.timestamp().as_microsecond()))
}

/// Reads a date or a time as a tool takes it.
pub(crate) fn time(given: &str) -> Result<Timestamp, String> {
    if let Some(time) = noon(given.trim()) {
        return Ok(time);
    }
    given
        .trim()
        .parse::<jiff::Timestamp>()
        .map(|time| Timestamp::from_microseconds(time.as_microsecond()))
        .map_err(|_| format!("{given:?} is no date; write 2026-11-15 or 2026-11-15T09:00:00Z"))
}
