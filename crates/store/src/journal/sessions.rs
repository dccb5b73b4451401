//! Lists sessions and unfinished turns.

use lango_protocol::{EventBody, SessionId, Timestamp, TurnId};

use super::Journal;
use super::clock::timed;
use super::lease::SessionLease;
use super::owner::LeaseOwner;
use crate::{Row, Statement, StoreError};

/// A session in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionSummary {
    /// Its id.
    pub id: SessionId,
    /// The beginning of its first message; empty before that.
    pub title: String,
    /// The directory in which it was started.
    pub workspace: String,
    /// The time of its first claim.
    pub created_at: Timestamp,
    /// The time when its last turn began.
    pub updated_at: Timestamp,
    /// The number of its turns.
    pub turns: u64,
    /// True if one of them has not ended.
    pub unfinished: bool,
}

/// A turn without an end: it runs, or its process died.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfinishedTurn {
    /// The turn.
    pub turn: TurnId,
    /// Its session.
    pub session: SessionId,
    /// The time when it began.
    pub started_at: Timestamp,
    /// The user's message.
    pub text: String,
    /// The live process that holds the session. If there is none, the turn was interrupted.
    pub running: Option<LeaseOwner>,
}

/// Completed by the condition or the order of each list.
macro_rules! summaries {
    ($rest:literal) => {
        Statement::new(concat!(
            "SELECT s.id, s.title, s.workspace, s.created_at, s.updated_at, ",
            "s.turns, EXISTS (SELECT 1 FROM open_turns AS t WHERE t.session = s.id) ",
            "FROM sessions AS s ",
            $rest
        ))
    };
}

impl Journal {
    /// Returns one session.
    pub async fn find_session(&self, id: &SessionId) -> Result<Option<SessionSummary>, StoreError> {
        let rows = self.database.query(summaries!("WHERE s.id = $1").bind(id.as_str())).await?;
        rows.first().map(|row| self.read_session_summary(row)).transpose()
    }

    /// Returns the most recently used sessions, latest first.
    pub async fn list_sessions(&self, limit: u32) -> Result<Vec<SessionSummary>, StoreError> {
        let statement = summaries!("ORDER BY s.last_use DESC, s.id DESC LIMIT $1").bind(limit);
        let rows = self.database.query(statement).await?;
        rows.iter().map(|row| self.read_session_summary(row)).collect()
    }

    /// Returns the most recently used session.
    pub async fn find_latest_session(&self) -> Result<Option<SessionId>, StoreError> {
        let statement =
            Statement::new("SELECT id FROM sessions ORDER BY last_use DESC, id DESC LIMIT 1");
        Ok(self.read_session_ids(statement).await?.pop())
    }

    /// Returns the sessions whose id begins with `prefix`, latest first. The prefix is literal and
    /// case-sensitive on both engines, unlike with `LIKE`.
    pub async fn find_sessions(&self, prefix: &str) -> Result<Vec<SessionId>, StoreError> {
        let length = i64::try_from(prefix.chars().count()).unwrap_or(i64::MAX);
        let statement = Statement::new(
            "SELECT id FROM sessions WHERE substr(id, 1, $2) = $1 \
             ORDER BY last_use DESC, id DESC",
        )
        .bind(prefix)
        .bind(length);
        self.read_session_ids(statement).await
    }

    /// Returns the unfinished turns of one session, or of all; the oldest first.
    pub async fn list_unfinished_turns(
        &self,
        session: Option<&SessionId>,
    ) -> Result<Vec<UnfinishedTurn>, StoreError> {
        let statement = timed!(
            self.clock,
            "SELECT t.id, t.session, t.started_at, \
             (SELECT e.payload FROM events AS e WHERE e.session = t.session \
             AND e.seq = t.first_seq), \
             l.token, l.incarnation, l.owner_pid, l.owner_host, l.owner_start, l.expires_at, ",
            "$3",
            " FROM open_turns AS t \
             LEFT JOIN leases AS l ON l.name = 'session:' || t.session \
             WHERE (t.session = $1 OR $2 = 1) \
             ORDER BY t.started_at, t.id"
        )
        .bind(session.map(SessionId::as_str))
        .bind(i64::from(session.is_none()));
        let rows = self.database.query(self.clock.bind_now(statement)).await?;
        rows.iter().map(|row| self.read_unfinished_turn(row)).collect()
    }

    fn read_unfinished_turn(&self, row: &Row) -> Result<UnfinishedTurn, StoreError> {
        let text = match self.parse_body(row.text(3)?)? {
            EventBody::UserMessage { text, .. } => text,
            other => return Err(StoreError::query(&format!("a turn began with {other:?}"))),
        };
        Ok(UnfinishedTurn {
            turn: row.text(0)?.parse().map_err(|error| self.unreadable_row_error(&error))?,
            session: row.text(1)?.parse().map_err(|error| self.unreadable_row_error(&error))?,
            started_at: Timestamp::from_microseconds(row.integer(2)?),
            text,
            running: SessionLease::read(row, 4)?.and_then(|lease| lease.holder(self.clock)),
        })
    }

    fn read_session_summary(&self, row: &Row) -> Result<SessionSummary, StoreError> {
        Ok(SessionSummary {
            id: row.text(0)?.parse().map_err(|error| self.unreadable_row_error(&error))?,
            title: row.text(1)?.to_owned(),
            workspace: row.text(2)?.to_owned(),
            created_at: Timestamp::from_microseconds(row.integer(3)?),
            updated_at: Timestamp::from_microseconds(row.integer(4)?),
            turns: row.unsigned(5)?,
            unfinished: row.boolean(6)?,
        })
    }

    async fn read_session_ids(&self, statement: Statement) -> Result<Vec<SessionId>, StoreError> {
        let rows = self.database.query(statement).await?;
        rows.iter()
            .map(|row| row.text(0)?.parse().map_err(|error| self.unreadable_row_error(&error)))
            .collect()
    }
}
