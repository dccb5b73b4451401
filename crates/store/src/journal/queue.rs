//! Queues turns that were accepted and have not begun, in the order of their acceptance.
//!
//! A row is written in the same commit as the promise that the turn will run, and removed in the
//! same commit as its first event: while it is there, the turn has not begun, and afterwards it
//! cannot begin again. Any process may run a row whose session it has claimed. What a request means
//! is left to its writer.

use lango_protocol::{SessionId, Timestamp, TurnId};

use super::Journal;
use super::clock::timed;
use super::lease::{SessionLease, lease_name};
use super::owner::LeaseOwner;
use crate::{Batch, Row, Statement, StoreError};

/// A turn that was accepted and has not begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedTurn {
    /// The turn.
    pub turn: TurnId,
    /// Its session.
    pub session: SessionId,
    /// The request, as its writer stored it.
    pub request: String,
    pub(super) position: i64,
}

/// The place of a claim among the turns that wait in its session.
#[derive(Debug, Clone, Copy)]
pub enum QueuePlace<'a> {
    /// Claims the session whatever waits in it.
    First,
    /// Waits for everything that was accepted up to a position; without one, for all there is.
    After(Option<i64>),
    /// Begins a queued turn.
    Of(&'a QueuedTurn),
}

/// A turn that comes before the one that a claim was for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrecedingTurn {
    /// The turn.
    pub turn: TurnId,
    /// The position of the last turn in the queue.
    pub last: Option<i64>,
}

/// How far a turn is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnState {
    /// It was accepted and has not begun.
    Queued(QueuedTurn),
    /// It has begun and not ended. If no live process holds its session, it was interrupted.
    Open(Option<LeaseOwner>),
    /// It has ended, or does not exist.
    Closed,
}

/// The turns of a session that were promised, as a claim sees them.
pub(super) struct WaitingTurns {
    /// A promised turn that was interrupted.
    open: Option<TurnId>,
    /// The first one in the queue.
    head: Option<(TurnId, i64)>,
    last: Option<i64>,
}

/// What a claim may do.
pub(super) enum PlaceCheck {
    Free,
    Behind(PrecedingTurn),
    /// The queued turn has begun or was withdrawn.
    Gone,
}

impl WaitingTurns {
    pub(super) fn read(journal: &Journal, row: &Row, first: usize) -> Result<Self, StoreError> {
        let turn = |column: usize| {
            let text = row.optional_text(column)?;
            text.map(|text| text.parse().map_err(|error| journal.unreadable_row_error(&error)))
                .transpose()
        };
        let head = turn(first + 1)?.zip(row.optional_integer(first + 2)?);
        Ok(Self { open: turn(first)?, head, last: row.optional_integer(first + 3)? })
    }

    pub(super) fn check(&self, place: QueuePlace<'_>) -> PlaceCheck {
        let behind = |turn| PlaceCheck::Behind(PrecedingTurn { turn, last: self.last });
        match (place, self.open, self.head) {
            (QueuePlace::First, _, _) => PlaceCheck::Free,
            (_, Some(open), _) => behind(open),
            (QueuePlace::After(None), None, Some((turn, _))) => behind(turn),
            (QueuePlace::After(Some(last)), None, Some((turn, position))) if position <= last => {
                behind(turn)
            }
            (QueuePlace::After(_), None, _) => PlaceCheck::Free,
            (QueuePlace::Of(own), None, Some((turn, position))) if position < own.position => {
                behind(turn)
            }
            (QueuePlace::Of(own), None, Some((turn, _))) if turn == own.turn => PlaceCheck::Free,
            (QueuePlace::Of(_), None, _) => PlaceCheck::Gone,
        }
    }
}

impl Journal {
    /// Returns the statement that queues a turn, for the commit that promises it.
    pub fn build_queue_entry(session: &SessionId, turn: TurnId, request: &str) -> Statement {
        Statement::new(
            "INSERT INTO queued_turns (session, turn, request, accepted_at) \
             VALUES ($1, $2, $3, $4)",
        )
        .bind(session.as_str())
        .bind(turn.to_string())
        .bind(request)
        .bind(Timestamp::now().as_microseconds())
    }

    /// Queues a turn that was promised before, unless it is queued or has begun.
    pub async fn queue_again(
        &self,
        session: &SessionId,
        turn: TurnId,
        request: &str,
    ) -> Result<(), StoreError> {
        let statement = Statement::new(
            "INSERT INTO queued_turns (session, turn, request, accepted_at) \
             SELECT $1, $2, $3, CAST($4 AS BIGINT) WHERE NOT EXISTS \
             (SELECT 1 FROM events WHERE session = $1 AND turn = $2) \
             ON CONFLICT (turn) DO NOTHING",
        )
        .bind(session.as_str())
        .bind(turn.to_string())
        .bind(request)
        .bind(Timestamp::now().as_microseconds());
        self.database.write(statement.into()).await.map(drop)
    }

    /// Returns the statement that withdraws a turn which has not begun.
    pub fn build_withdrawal(turn: TurnId) -> Statement {
        Statement::new("DELETE FROM queued_turns WHERE turn = $1").bind(turn.to_string())
    }

    /// Withdraws a turn that has not begun. Returns false if it has begun or does not exist.
    pub async fn withdraw_turn(&self, turn: TurnId) -> Result<bool, StoreError> {
        Ok(self.database.write(Self::build_withdrawal(turn).into()).await? == [1])
    }

    /// Returns how far a turn is.
    pub async fn find_turn_state(
        &self,
        session: &SessionId,
        turn: TurnId,
    ) -> Result<TurnState, StoreError> {
        let statement = timed!(
            self.clock,
            "SELECT (SELECT COUNT(*) FROM open_turns WHERE session = $1 AND id = $2), \
             queued.position, queued.request, lease.token, lease.incarnation, lease.owner_pid, \
             lease.owner_host, lease.owner_start, lease.expires_at, ",
            "$4",
            " FROM (SELECT 1 AS one) AS always \
             LEFT JOIN queued_turns AS queued ON queued.turn = $2 \
             LEFT JOIN leases AS lease ON lease.name = $3"
        )
        .bind(session.as_str())
        .bind(turn.to_string())
        .bind(lease_name(session));
        let rows = self.database.query(self.clock.bind_now(statement)).await?;
        let Some(row) = rows.first() else { return Ok(TurnState::Closed) };
        if let Some(position) = row.optional_integer(1)? {
            let request = row.text(2)?.to_owned();
            let session = session.clone();
            return Ok(TurnState::Queued(QueuedTurn { turn, session, request, position }));
        }
        if row.boolean(0)? {
            let lease = SessionLease::read(row, 3)?;
            return Ok(TurnState::Open(lease.and_then(|lease| lease.holder(self.clock))));
        }
        Ok(TurnState::Closed)
    }

    /// Returns the sessions in which promised turns wait or were interrupted, and that no live
    /// process holds. Those of work are left out: it has its own list.
    pub async fn list_abandoned_sessions(&self) -> Result<Vec<SessionId>, StoreError> {
        let statement = timed!(
            self.clock,
            "SELECT waiting.session, lease.token, lease.incarnation, lease.owner_pid, \
             lease.owner_host, lease.owner_start, lease.expires_at, ",
            "$1",
            " FROM (SELECT session FROM queued_turns UNION \
             SELECT session FROM open_turns WHERE promised = 1) AS waiting \
             LEFT JOIN leases AS lease ON lease.name = 'session:' || waiting.session \
             WHERE NOT EXISTS (SELECT 1 FROM work WHERE work.session = waiting.session)"
        );
        let rows = self.database.query(self.clock.bind_now(statement)).await?;
        let mut sessions = Vec::new();
        for row in &rows {
            if SessionLease::read(row, 1)?.and_then(|lease| lease.holder(self.clock)).is_none() {
                let session = row.text(0)?.parse();
                sessions.push(session.map_err(|error| self.unreadable_row_error(&error))?);
            }
        }
        Ok(sessions)
    }

    /// Returns the promised turn of a session that comes next: an interrupted one, or the first in
    /// the queue.
    pub async fn find_next_turn(&self, session: &SessionId) -> Result<Option<TurnId>, StoreError> {
        let statement = Statement::new(
            "SELECT COALESCE((SELECT id FROM open_turns WHERE session = $1 AND promised = 1), \
             (SELECT turn FROM queued_turns WHERE session = $1 ORDER BY position LIMIT 1))",
        )
        .bind(session.as_str());
        let rows = self.database.query(statement).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let turn = row.optional_text(0)?.map(str::parse).transpose();
        turn.map_err(|error: lango_protocol::InvalidName| self.unreadable_row_error(&error))
    }

    /// Returns the promised turns that have not ended, in all sessions.
    pub async fn list_promised_turns(&self) -> Result<Vec<TurnId>, StoreError> {
        let statement = Statement::new(
            "SELECT turn FROM queued_turns UNION ALL \
             SELECT id FROM open_turns WHERE promised = 1",
        );
        let rows = self.database.query(statement).await?;
        let turn = |row: &Row| {
            row.text(0)?
                .parse()
                .map_err(|error: lango_protocol::InvalidName| self.unreadable_row_error(&error))
        };
        rows.iter().map(turn).collect()
    }
}

/// Removes the row of a turn that begins in this batch, or fails the batch: it has begun before,
/// was withdrawn, or another one comes first.
pub(super) fn push_beginning(batch: &mut Batch, turn: &QueuedTurn) {
    batch.push(
        Statement::new(
            "DELETE FROM queued_turns WHERE turn = $1 AND NOT EXISTS \
             (SELECT 1 FROM queued_turns AS earlier WHERE earlier.session = $2 \
             AND earlier.position < $3)",
        )
        .bind(turn.turn.to_string())
        .bind(turn.session.as_str())
        .bind(turn.position)
        .expect_rows(1),
    );
}
