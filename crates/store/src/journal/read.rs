//! Reads events.

use lango_protocol::{Event, EventBody, InvalidName, SessionId, Timestamp, TurnId};

use super::Journal;
use crate::{Row, Statement, StoreError};

impl Journal {
    /// Returns up to `limit` events of a session after a position, in order.
    pub async fn read_events(
        &self,
        session: &SessionId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<Event>, StoreError> {
        let statement = Statement::new(
            "SELECT id, session, turn, seq, at, author, branch, step, payload FROM events \
             WHERE session = $1 AND seq > $2 ORDER BY seq LIMIT $3",
        )
        .bind(session.as_str())
        .bind(i64::try_from(after).unwrap_or(i64::MAX))
        .bind(limit);
        self.query_events(statement).await
    }

    /// Returns all events of one turn, in order.
    pub async fn read_turn_events(
        &self,
        session: &SessionId,
        turn: TurnId,
    ) -> Result<Vec<Event>, StoreError> {
        let statement = Statement::new(
            "SELECT id, session, turn, seq, at, author, branch, step, payload FROM events \
             WHERE session = $1 AND turn = $2 AND seq >= COALESCE(\
             (SELECT first_seq FROM open_turns WHERE session = $1 AND id = $2), 0) ORDER BY seq",
        )
        .bind(session.as_str())
        .bind(turn.to_string());
        self.query_events(statement).await
    }

    /// Returns the messages, transfers and outcomes of the last finished turns, in order. The calls
    /// in between are included for the newest `turns_with_calls` of them.
    pub async fn read_conversation(
        &self,
        session: &SessionId,
        turns: u32,
        turns_with_calls: u32,
    ) -> Result<Vec<Event>, StoreError> {
        let statement = Statement::new(
            "SELECT id, session, turn, seq, at, author, branch, step, payload FROM events \
             WHERE session = $1 AND seq >= (SELECT MIN(seq) FROM \
             (SELECT seq FROM events WHERE session = $1 AND type = 'user_message' \
             AND turn NOT IN (SELECT id FROM open_turns WHERE session = $1) \
             ORDER BY seq DESC LIMIT $2) AS recent) \
             AND turn NOT IN (SELECT id FROM open_turns WHERE session = $1) \
             AND (type IN ('user_message', 'message', 'transfer', 'transfer_finished', \
             'turn_finished') OR type IN ('tool_call', 'tool_result') AND seq >= (SELECT MIN(seq) FROM \
             (SELECT seq FROM events WHERE session = $1 AND type = 'user_message' \
             AND turn NOT IN (SELECT id FROM open_turns WHERE session = $1) \
             ORDER BY seq DESC LIMIT $3) AS newest)) ORDER BY seq",
        )
        .bind(session.as_str())
        .bind(turns)
        .bind(turns_with_calls);
        self.query_events(statement).await
    }

    /// Returns the messages of the user and the agents in finished turns after a position, with the
    /// ends of those turns, in order; at most `limit` events. Calls and transfers are not included.
    pub async fn read_messages_after(
        &self,
        session: &SessionId,
        after: u64,
        limit: u32,
    ) -> Result<Vec<Event>, StoreError> {
        let statement = Statement::new(
            "SELECT id, session, turn, seq, at, author, branch, step, payload FROM events \
             WHERE session = $1 AND seq > $2 \
             AND turn NOT IN (SELECT id FROM open_turns WHERE session = $1) \
             AND type IN ('user_message', 'message', 'turn_finished') ORDER BY seq LIMIT $3",
        )
        .bind(session.as_str())
        .bind(i64::try_from(after).unwrap_or(i64::MAX))
        .bind(limit);
        self.query_events(statement).await
    }

    /// Returns the end position of the turn before the last `turns` finished ones, so that
    /// everything up to it is older; 0 if there are no more turns than that.
    pub async fn find_position_before(
        &self,
        session: &SessionId,
        turns: u32,
    ) -> Result<u64, StoreError> {
        let statement = Statement::new(
            "SELECT seq FROM events WHERE session = $1 AND type = 'turn_finished' \
             ORDER BY seq DESC LIMIT 1 OFFSET $2",
        )
        .bind(session.as_str())
        .bind(turns);
        let rows = self.database.query(statement).await?;
        rows.first().map_or(Ok(0), |row| row.unsigned(0))
    }

    /// Returns the usage of model calls since a time, in one session or in all; the oldest first.
    pub async fn read_usage(
        &self,
        session: Option<&SessionId>,
        since: Timestamp,
    ) -> Result<Vec<Event>, StoreError> {
        let statement = Statement::new(
            "SELECT id, session, turn, seq, at, author, branch, step, payload FROM events \
             WHERE type = 'usage' AND (session = $1 OR $2 = 1) AND at >= $3 \
             ORDER BY at, session, seq",
        )
        .bind(session.map(SessionId::as_str))
        .bind(i64::from(session.is_none()))
        .bind(since.as_microseconds());
        self.query_events(statement).await
    }

    /// Returns the number of finished turns of a session.
    pub async fn count_finished_turns(&self, session: &SessionId) -> Result<u64, StoreError> {
        let statement = Statement::new(
            "SELECT turns - (SELECT COUNT(*) FROM open_turns WHERE session = $1) \
             FROM sessions WHERE id = $1",
        )
        .bind(session.as_str());
        let rows = self.database.query(statement).await?;
        rows.first().map_or(Ok(0), |row| row.unsigned(0))
    }

    /// Returns a long output that an event refers to.
    pub async fn read_output(
        &self,
        session: &SessionId,
        reference: &str,
    ) -> Result<Option<String>, StoreError> {
        let statement =
            Statement::new("SELECT text FROM outputs WHERE session = $1 AND reference = $2")
                .bind(session.as_str())
                .bind(reference);
        let rows = self.database.query(statement).await?;
        rows.first()
            .map(|row| {
                String::from_utf8(row.blob(0)?.to_vec())
                    .map_err(|error| self.unreadable_row_error(&error))
            })
            .transpose()
    }

    async fn query_events(&self, statement: Statement) -> Result<Vec<Event>, StoreError> {
        let rows = self.database.query(statement).await?;
        rows.iter().map(|row| self.parse_event_row(row)).collect()
    }

    fn parse_event_row(&self, row: &Row) -> Result<Event, StoreError> {
        let invalid = |error: InvalidName| self.unreadable_row_error(&error);
        Ok(Event {
            id: row.text(0)?.parse().map_err(invalid)?,
            session: row.text(1)?.parse().map_err(invalid)?,
            turn: row.text(2)?.parse().map_err(invalid)?,
            seq: row.unsigned(3)?,
            at: Timestamp::from_microseconds(row.integer(4)?),
            author: row.optional_text(5)?.map(str::to_owned),
            branch: row.optional_text(6)?.map(str::parse).transpose().map_err(invalid)?,
            step: row
                .optional_integer(7)?
                .map(u32::try_from)
                .transpose()
                .map_err(|error| self.unreadable_row_error(&error))?,
            body: self.parse_body(row.text(8)?)?,
        })
    }

    pub(super) fn parse_body(&self, payload: &str) -> Result<EventBody, StoreError> {
        serde_json::from_str(payload).map_err(|error| self.unreadable_row_error(&error))
    }

    /// Returns the error for a row that this program cannot have written.
    pub(super) fn unreadable_row_error(&self, error: &dyn std::error::Error) -> StoreError {
        StoreError::Corrupt {
            location: self.database.location().to_owned(),
            reason: error.to_string(),
        }
    }
}
