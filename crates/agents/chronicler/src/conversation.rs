//! Reads the part of a session that has not been observed yet.

use lango_model::estimate_tokens;
use lango_protocol::{Event, EventBody, SessionId, Space, Timestamp, TurnId};
use lango_store::Statement;
use lango_text::ellipsize_characters;

use crate::ChroniclerError;
use crate::memory::MemoryStores;
use crate::record::SourceMessage;
use crate::remember::source_of_event;
use crate::rows::position_to_sql;

/// Limits the events that are read at a time.
const EVENTS_PER_PAGE: u32 = 200;

/// Limits the message that is observed; a longer one is cut.
const MAX_MESSAGE_CHARACTERS: usize = 8_000;

/// Says how far a session was processed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Watermark {
    /// The position up to which the user's statements were noted.
    pub(crate) noted: u64,
    /// The position up to which the conversation was observed.
    pub(crate) observed: u64,
    /// The tokens between the two; none if they were not counted.
    pub(crate) unobserved_tokens: Option<i64>,
}

/// Represents a message of a conversation.
#[derive(Debug, Clone)]
pub(crate) struct ConversationMessage {
    pub(crate) source: SourceMessage,
    pub(crate) turn: TurnId,
    pub(crate) at: Timestamp,
    pub(crate) by_user: bool,
    pub(crate) text: String,
}

/// Holds the messages of whole turns, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct ConversationPart {
    pub(crate) messages: Vec<ConversationMessage>,
    pub(crate) tokens: u64,
    /// The position and the turn at the end.
    pub(crate) end: Option<(u64, TurnId)>,
    /// True if no finished turn followed when it was read.
    pub(crate) is_last: bool,
}

impl ConversationPart {
    /// Returns the part that consists of one finished turn, given by all its events. Returns none
    /// if the turn does not begin right after a position.
    pub(crate) fn from_turn(space: &Space, events: &[Event], after: u64) -> Option<Self> {
        let (first, last) = (events.first()?, events.last()?);
        let finished = matches!(last.body, EventBody::TurnFinished(_));
        if first.seq != after + 1 || !finished {
            return None;
        }
        let messages: Vec<_> =
            events.iter().filter_map(|event| message_from_event(space, event)).collect();
        let tokens = messages.iter().map(|message| estimate_tokens(&message.text)).sum();
        Some(Self { messages, tokens, end: Some((last.seq, last.turn)), is_last: true })
    }
}

impl MemoryStores {
    pub(crate) async fn read_watermark(
        &self,
        session: &SessionId,
    ) -> Result<Watermark, ChroniclerError> {
        let statement = Statement::new(
            "SELECT noted_seq, observed_seq, unobserved_tokens FROM watermarks WHERE session = $1",
        );
        let rows = self.database.query(statement.bind(session.as_str())).await?;
        match rows.first() {
            Some(row) => Ok(Watermark {
                noted: row.unsigned(0)?,
                observed: row.unsigned(1)?,
                unobserved_tokens: row.optional_integer(2)?,
            }),
            None => Ok(Watermark { noted: 0, observed: 0, unobserved_tokens: Some(0) }),
        }
    }

    /// Stores the tokens of a session that were not counted, unless a watermark moved since.
    pub(crate) async fn store_unobserved_tokens(
        &self,
        session: &SessionId,
        mark: Watermark,
        tokens: u64,
    ) -> Result<(), ChroniclerError> {
        let statement = Statement::new(
            "UPDATE watermarks SET unobserved_tokens = $4 WHERE session = $1 AND noted_seq = $2 \
             AND observed_seq = $3 AND unobserved_tokens IS NULL",
        )
        .bind(session.as_str())
        .bind(position_to_sql(mark.noted))
        .bind(position_to_sql(mark.observed))
        .bind(position_to_sql(tokens));
        self.database.write(statement.into()).await?;
        Ok(())
    }

    /// Returns whole finished turns after a position, up to `most` tokens, but at least one turn if
    /// there is one.
    pub(crate) async fn read_turns(
        &self,
        session: &SessionId,
        after: u64,
        most: u64,
    ) -> Result<ConversationPart, ChroniclerError> {
        let mut part = ConversationPart::default();
        let mut turn = ConversationPart::default();
        let mut from = after;
        loop {
            let events = self.journal.read_messages_after(session, from, EVENTS_PER_PAGE).await?;
            let is_last_page = events.len() < EVENTS_PER_PAGE as usize;
            from = events.last().map_or(from, |last| last.seq);
            for event in &events {
                if let Some(message) = message_from_event(self.space(), event) {
                    turn.tokens += estimate_tokens(&message.text);
                    turn.messages.push(message);
                } else if matches!(event.body, EventBody::TurnFinished(_)) {
                    if part.end.is_some() && part.tokens + turn.tokens > most {
                        return Ok(part);
                    }
                    part.tokens += turn.tokens;
                    part.messages.append(&mut turn.messages);
                    part.end = Some((event.seq, event.turn));
                    turn = ConversationPart::default();
                }
            }
            if is_last_page {
                part.is_last = true;
                return Ok(part);
            }
        }
    }
}

/// Returns the message of an event; none for intermediate messages. Only a message of the one whose
/// space it is counts as the user's.
fn message_from_event(space: &Space, event: &Event) -> Option<ConversationMessage> {
    let (by_user, text) = match &event.body {
        EventBody::UserMessage { text, sender, .. } => {
            (space.is_own_message(sender.as_ref()), text)
        }
        EventBody::Message { text, answer: true } => (false, text),
        _ => return None,
    };
    Some(ConversationMessage {
        source: source_of_event(event),
        turn: event.turn,
        at: event.at,
        by_user,
        text: ellipsize_characters(text, MAX_MESSAGE_CHARACTERS),
    })
}

/// Returns the statement that creates the row of a session, so that moving its watermark changes one
/// row.
pub(crate) fn create_watermark(session: &SessionId) -> Statement {
    Statement::new(
        "INSERT INTO watermarks (session, noted_seq, observed_seq, last_turn, unobserved_tokens) \
         VALUES ($1, 0, 0, '', 0) ON CONFLICT DO NOTHING",
    )
    .bind(session.as_str())
}

/// Returns the statement that moves one of the two watermarks of a session to the end of a part of
/// `tokens`, if it is still at `from`.
pub(crate) fn move_watermark(
    session: &SessionId,
    noted: bool,
    from: u64,
    (seq, turn): (u64, TurnId),
    tokens: u64,
) -> Statement {
    // Both moves together cancel out, whichever comes first.
    let sql = if noted {
        "UPDATE watermarks SET noted_seq = $3, last_turn = $4, \
         unobserved_tokens = unobserved_tokens + $5 WHERE session = $1 AND noted_seq = $2"
    } else {
        "UPDATE watermarks SET observed_seq = $3, last_turn = $4, \
         unobserved_tokens = unobserved_tokens - $5 WHERE session = $1 AND observed_seq = $2"
    };
    Statement::new(sql)
        .bind(session.as_str())
        .bind(position_to_sql(from))
        .bind(position_to_sql(seq))
        .bind(turn.to_string())
        .bind(position_to_sql(tokens))
        .expect_rows(1)
}

/// Parses a date as noon UTC, as observations have it. Returns none for what is no date.
pub(crate) fn parse_date_as_noon(date: &str) -> Option<Timestamp> {
    let date: jiff::civil::Date = date.parse().ok()?;
    let noon = date.at(12, 0, 0, 0).to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(Timestamp::from_microseconds(noon.timestamp().as_microsecond()))
}

/// Parses a date or a time of a tool's arguments.
pub(crate) fn parse_time(given: &str) -> Result<Timestamp, String> {
    if let Some(time) = parse_date_as_noon(given.trim()) {
        return Ok(time);
    }
    given
        .trim()
        .parse::<jiff::Timestamp>()
        .map(|time| Timestamp::from_microseconds(time.as_microsecond()))
        .map_err(|_| format!("{given:?} is no date; write 2026-11-15 or 2026-11-15T09:00:00Z"))
}
