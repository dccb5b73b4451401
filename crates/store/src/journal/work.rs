//! Stores work that runs by itself: each piece is a promised turn, which begins at most once.
//!
//! The id says what the work is for, such as one occurrence of one job, and a second row with it
//! cannot be written. A piece starts in the commit that queues its turn, so that it starts once however
//! many processes try; from then on everything that holds for promised turns holds for it. Its end is
//! read from the journal, by whichever process looks first.

use lango_protocol::{CallId, SessionId, Space, Timestamp, TurnId};

use super::Journal;
use super::clock::timed;
use super::lease::SessionLease;
use super::work_state::WorkState;
use crate::{Batch, Row, SqlDialect, Statement, StoreError};

/// A piece of work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkItem {
    /// Its id: no two pieces of work ever have the same one.
    pub id: String,
    /// Its kind, which its writer chooses.
    pub kind: String,
    /// The job that it belongs to; empty if there is none.
    pub parent: String,
    /// Whose work it is.
    pub space: Space,
    /// The directory to work in.
    pub workspace: String,
    /// How many pieces of work led to this one.
    pub depth: u32,
    /// The session of its turn.
    pub session: SessionId,
    /// Its turn.
    pub turn: TurnId,
    /// The request of the turn, as its writer stored it.
    pub request: String,
    /// Its description in a few words.
    pub title: String,
    /// How far it is.
    pub state: WorkState,
    /// The time from which it may run.
    pub due_at: Timestamp,
    /// The time when it was written.
    pub created_at: Timestamp,
    /// The time when its turn was queued.
    pub started_at: Option<Timestamp>,
    /// The time when it ended.
    pub ended_at: Option<Timestamp>,
    /// Its result, or the reason why there is none.
    pub result: String,
    /// The conversation that is told the result.
    pub reply_to: Option<SessionId>,
    /// True if its cancellation was asked for.
    pub is_cancelled: bool,
}

/// Says which work a process may run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkScope {
    /// The directory that it must belong to; any if absent.
    pub workspace: Option<String>,
    /// True if the work of API clients is included.
    pub includes_clients: bool,
}

/// Selects work for lists.
#[derive(Debug, Clone, Copy, Default)]
pub struct WorkFilter<'a> {
    /// Its kind.
    pub kind: Option<&'a str>,
    /// The job that it belongs to.
    pub parent: Option<&'a str>,
    /// Whose work it is.
    pub space: Option<&'a Space>,
    /// True if only what has not ended is meant.
    pub is_open: bool,
}

/// Completed by the condition and the order of each list.
macro_rules! items {
    ($rest:literal) => {
        concat!(
            "SELECT work.id, work.kind, work.parent, work.client, work.workspace, work.depth, ",
            "work.session, work.turn, work.request, work.title, work.state, work.due_at, ",
            "work.created_at, work.started_at, work.ended_at, work.result, work.reply_to, ",
            "work.is_cancelled ",
            $rest
        )
    };
}

impl Journal {
    /// Returns the statement that writes a piece of work. The batch fails with a conflict if its id
    /// was used before.
    pub fn build_work_entry(item: &WorkItem) -> Statement {
        Statement::new(
            "INSERT INTO work (id, kind, parent, client, workspace, depth, session, turn, request, \
             title, state, due_at, created_at, started_at, ended_at, result, reply_to, \
             is_delivered, is_announced, is_cancelled) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, \
             $10, $11, $12, $13, $14, $15, $16, $17, $18, $18, 0) ON CONFLICT (id) DO NOTHING",
        )
        .bind(item.id.as_str())
        .bind(item.kind.as_str())
        .bind(item.parent.as_str())
        .bind(item.space.as_stored())
        .bind(item.workspace.as_str())
        .bind(item.depth)
        .bind(item.session.as_str())
        .bind(item.turn.to_string())
        .bind(item.request.as_str())
        .bind(item.title.as_str())
        .bind(item.state.as_str())
        .bind(item.due_at.as_microseconds())
        .bind(item.created_at.as_microseconds())
        .bind(item.started_at.map(Timestamp::as_microseconds))
        .bind(item.ended_at.map(Timestamp::as_microseconds))
        .bind(item.result.as_str())
        .bind(item.reply_to.as_ref().map_or("", SessionId::as_str))
        .bind(item.state == WorkState::Skipped)
        .expect_rows(1)
    }

    /// Starts a piece of work that waits: queues its turn, unless so many of its owner in its workspace
    /// have started and not ended, or another process was faster. Returns whether it started.
    pub async fn start_work(&self, item: &WorkItem, limit: u32) -> Result<bool, StoreError> {
        let start = Statement::new(
            "UPDATE work SET state = 'started', started_at = $2 WHERE id = $1 \
             AND state = 'waiting' AND is_cancelled = 0 AND \
             (SELECT COUNT(*) FROM work AS other WHERE other.state = 'started' \
             AND other.workspace = work.workspace AND other.client = work.client) < $3",
        )
        .bind(item.id.as_str())
        .bind(Timestamp::now().as_microseconds())
        .bind(limit)
        .expect_rows(1);
        let entry = Self::build_queue_entry(&item.session, item.turn, &item.request);
        let mut batch = Batch::new();
        if self.database.dialect() == SqlDialect::Postgres {
            // Of several transactions each counts what the others have not committed. SQLite writes in
            // one at a time.
            let place = format!("{}\n{}", item.space.as_stored(), item.workspace);
            batch.push(
                Statement::new("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))").bind(place),
            );
        }
        match self.database.write(batch.with(start).with(entry)).await {
            Ok(_) => Ok(true),
            Err(StoreError::Conflict { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Writes the end of a piece of work that has started. Returns false if it had ended.
    pub async fn end_work(
        &self,
        id: &str,
        state: WorkState,
        result: &str,
    ) -> Result<bool, StoreError> {
        let statement = Statement::new(
            "UPDATE work SET state = $2, result = $3, ended_at = $4 WHERE id = $1 \
             AND state = 'started'",
        )
        .bind(id)
        .bind(state.as_str())
        .bind(result)
        .bind(Timestamp::now().as_microseconds());
        Ok(self.database.write(statement.into()).await? == [1])
    }

    /// Cancels a piece of work: one that waits never runs, and the process that runs one stops its
    /// turn. Returns false if it had ended or does not exist.
    pub async fn cancel_work(&self, id: &str) -> Result<bool, StoreError> {
        let [waiting, started] = Self::build_work_cancellation("id", id);
        let changed = self.database.write(Batch::from(waiting).with(started)).await?;
        Ok(changed.iter().any(|rows| *rows > 0))
    }

    /// Removes a piece of work that has ended. Returns false if it has not, or does not exist.
    pub async fn remove_ended_work(&self, id: &str) -> Result<bool, StoreError> {
        let statement = Statement::new(
            "DELETE FROM work WHERE id = $1 AND state NOT IN ('waiting', 'started')",
        )
        .bind(id);
        Ok(self.database.write(statement.into()).await? == [1])
    }

    /// Returns the statements that cancel everything that belongs to a parent, for the commit that
    /// cancels the parent.
    pub fn build_cancellation_of_parent(parent: &str) -> [Statement; 2] {
        Self::build_work_cancellation("parent", parent)
    }

    /// Returns the statements that cancel a piece of work, for the commit that decides it.
    pub fn build_cancellation(id: &str) -> [Statement; 2] {
        Self::build_work_cancellation("id", id)
    }

    fn build_work_cancellation(column: &'static str, value: &str) -> [Statement; 2] {
        let waiting = Statement::new(format!(
            "UPDATE work SET state = 'cancelled', is_cancelled = 1, is_delivered = 1, \
             is_announced = 1, ended_at = $2 WHERE {column} = $1 AND state = 'waiting'"
        ))
        .bind(value)
        .bind(Timestamp::now().as_microseconds());
        let started = Statement::new(format!(
            "UPDATE work SET is_cancelled = 1 WHERE {column} = $1 AND state = 'started'"
        ))
        .bind(value);
        [waiting, started]
    }

    /// Returns the statement that marks a result as delivered, for work whose result is used by a
    /// program and told to no one.
    pub fn build_delivery(id: &str) -> Statement {
        Statement::new("UPDATE work SET is_delivered = 1, is_announced = 1 WHERE id = $1").bind(id)
    }

    /// Marks the result of a piece of work as delivered. Returns false if it was already.
    pub async fn mark_work_delivered(&self, id: &str) -> Result<bool, StoreError> {
        let statement =
            Statement::new("UPDATE work SET is_delivered = 1 WHERE id = $1 AND is_delivered = 0")
                .bind(id);
        Ok(self.database.write(statement.into()).await? == [1])
    }

    /// Marks the results of work that belongs to the same parent and ended before as delivered, so that
    /// of work that is done again and again the newest result is told.
    pub async fn mark_earlier_work_delivered(&self, item: &WorkItem) -> Result<(), StoreError> {
        let statement = Statement::new(
            "UPDATE work SET is_delivered = 1 WHERE parent = $1 AND kind = $2 AND is_delivered = 0 \
             AND id <> $3 AND ended_at <= $4",
        )
        .bind(item.parent.as_str())
        .bind(item.kind.as_str())
        .bind(item.id.as_str())
        .bind(item.ended_at.unwrap_or(item.due_at).as_microseconds());
        self.database.write(statement.into()).await.map(drop)
    }

    /// Returns the ended work whose result was not delivered, of a conversation or of all, the oldest
    /// first.
    pub async fn list_undelivered_work(
        &self,
        space: &Space,
        limit: u32,
    ) -> Result<Vec<WorkItem>, StoreError> {
        let statement = Statement::new(items!(
            "FROM work WHERE is_delivered = 0 AND client = $1 \
             AND state IN ('done', 'failed') ORDER BY ended_at LIMIT $2"
        ))
        .bind(space.as_stored())
        .bind(limit);
        self.read_work(statement).await
    }

    /// Returns the work that waits and is due, the oldest first: so many pieces of each owner, so that
    /// none keeps the others from being looked at.
    pub async fn list_due_work(
        &self,
        scope: &WorkScope,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<WorkItem>, StoreError> {
        let statement = Statement::new(items!(
            "FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY client ORDER BY due_at, id) AS place \
             FROM work WHERE state = 'waiting' AND due_at <= $1 AND ($2 = '' OR workspace = $2) \
             AND (CAST($3 AS BIGINT) = 1 OR client = '')) AS work WHERE place <= $4 \
             ORDER BY due_at, id"
        ))
        .bind(now.as_microseconds())
        .bind(scope.workspace.as_deref().unwrap_or_default())
        .bind(scope.includes_clients)
        .bind(limit);
        self.read_work(statement).await
    }

    /// Returns the work of a scope that has started and not ended, and whose cancellation was asked for.
    pub async fn list_cancelled_work(
        &self,
        scope: &WorkScope,
    ) -> Result<Vec<WorkItem>, StoreError> {
        let statement = Statement::new(items!(
            "FROM work WHERE state = 'started' AND is_cancelled = 1 AND ($1 = '' OR workspace = $1) \
             AND (CAST($2 AS BIGINT) = 1 OR client = '') ORDER BY due_at, id"
        ))
        .bind(scope.workspace.as_deref().unwrap_or_default())
        .bind(scope.includes_clients);
        self.read_work(statement).await
    }

    /// Returns the work that has started and not ended, and whose session no live process holds: its
    /// turn waits, was interrupted, or has ended without a note of it.
    pub async fn list_abandoned_work(
        &self,
        scope: &WorkScope,
    ) -> Result<Vec<WorkItem>, StoreError> {
        let statement = timed!(
            self.clock,
            "SELECT work.id, lease.token, lease.incarnation, lease.owner_pid, lease.owner_host, \
             lease.owner_start, lease.expires_at, ",
            "$3",
            " FROM work LEFT JOIN leases AS lease ON lease.name = 'session:' || work.session \
             WHERE work.state = 'started' AND ($1 = '' OR work.workspace = $1) \
             AND (CAST($2 AS BIGINT) = 1 OR work.client = '') ORDER BY work.due_at, work.id"
        )
        .bind(scope.workspace.as_deref().unwrap_or_default())
        .bind(scope.includes_clients);
        let rows = self.database.query(self.clock.bind_now(statement)).await?;
        let mut items = Vec::new();
        for row in &rows {
            let lease = SessionLease::read(row, 1)?;
            if lease.and_then(|lease| lease.holder(self.clock)).is_none() {
                items.extend(self.find_work(row.text(0)?).await?);
            }
        }
        Ok(items)
    }

    /// Returns one piece of work.
    pub async fn find_work(&self, id: &str) -> Result<Option<WorkItem>, StoreError> {
        let statement = Statement::new(items!("FROM work WHERE id = $1")).bind(id);
        Ok(self.read_work(statement).await?.pop())
    }

    /// Returns the newest work of a session.
    pub async fn find_work_of_session(
        &self,
        session: &SessionId,
    ) -> Result<Option<WorkItem>, StoreError> {
        let statement =
            Statement::new(items!("FROM work WHERE session = $1 ORDER BY created_at DESC LIMIT 1"))
                .bind(session.as_str());
        Ok(self.read_work(statement).await?.pop())
    }

    /// Returns the newest work that a filter selects, the newest first.
    pub async fn list_work(
        &self,
        filter: WorkFilter<'_>,
        limit: u32,
    ) -> Result<Vec<WorkItem>, StoreError> {
        let statement = Statement::new(items!(
            "FROM work WHERE ($1 = '' OR kind = $1) AND ($2 = '' OR parent = $2) \
             AND ($3 = '*' OR client = $3) \
             AND (CAST($4 AS BIGINT) = 0 OR state IN ('waiting', 'started')) \
             ORDER BY due_at DESC, id DESC LIMIT $5"
        ))
        .bind(filter.kind.unwrap_or_default())
        .bind(filter.parent.unwrap_or_default())
        .bind(filter.space.map_or("*", Space::as_stored))
        .bind(filter.is_open)
        .bind(limit);
        self.read_work(statement).await
    }

    /// Returns the ended work of a scope that was not announced, the oldest first.
    pub async fn list_unannounced_work(
        &self,
        scope: &WorkScope,
        limit: u32,
    ) -> Result<Vec<WorkItem>, StoreError> {
        let statement = Statement::new(items!(
            "FROM work WHERE is_announced = 0 AND ended_at IS NOT NULL \
             AND ($1 = '' OR workspace = $1) AND (CAST($2 AS BIGINT) = 1 OR client = '') \
             ORDER BY ended_at, id LIMIT $3"
        ))
        .bind(scope.workspace.as_deref().unwrap_or_default())
        .bind(scope.includes_clients)
        .bind(limit);
        self.read_work(statement).await
    }

    /// Returns the statement that marks the end of a piece of work as announced. The batch fails with a
    /// conflict if another process did it.
    pub fn build_announcement(id: &str) -> Statement {
        Statement::new("UPDATE work SET is_announced = 1 WHERE id = $1 AND is_announced = 0")
            .bind(id)
            .expect_rows(1)
    }

    /// Returns the calls that started work of a scope waits for, each with the id of the work.
    pub async fn list_questions_of_work(
        &self,
        scope: &WorkScope,
    ) -> Result<Vec<(CallId, String)>, StoreError> {
        let statement = Statement::new(
            "SELECT approvals.call, work.id FROM approvals \
             JOIN work ON work.session = approvals.session WHERE work.state = 'started' \
             AND approvals.decision IS NULL AND ($1 = '' OR work.workspace = $1) \
             AND (CAST($2 AS BIGINT) = 1 OR work.client = '') ORDER BY approvals.call",
        )
        .bind(scope.workspace.as_deref().unwrap_or_default())
        .bind(scope.includes_clients);
        let rows = self.database.query(statement).await?;
        let read = |row: &Row| {
            let call = row.text(0)?.parse();
            let call = call.map_err(|error| self.unreadable_row_error(&error))?;
            Ok((call, row.text(1)?.to_owned()))
        };
        rows.iter().map(read).collect()
    }

    /// Returns the work that a conversation asked for and that has ended since, the newest first.
    pub async fn list_results_for(
        &self,
        session: &SessionId,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<WorkItem>, StoreError> {
        let statement = Statement::new(items!(
            "FROM work WHERE reply_to = $1 AND reply_to <> '' AND ended_at >= $2 \
             AND state IN ('done', 'failed') ORDER BY ended_at DESC, id LIMIT $3"
        ))
        .bind(session.as_str())
        .bind(since.as_microseconds())
        .bind(limit);
        self.read_work(statement).await
    }

    async fn read_work(&self, statement: Statement) -> Result<Vec<WorkItem>, StoreError> {
        let rows = self.database.query(statement).await?;
        rows.iter().map(|row| self.read_work_item(row)).collect()
    }

    fn read_work_item(&self, row: &Row) -> Result<WorkItem, StoreError> {
        let time = |column| row.integer(column).map(Timestamp::from_microseconds);
        let optional_time = |column| {
            let time = row.optional_integer(column)?;
            Ok::<_, StoreError>(time.map(Timestamp::from_microseconds))
        };
        let text = |column| row.text(column).map(str::to_owned);
        let reply_to = row.text(16)?;
        let parse =
            |session: &str| session.parse().map_err(|error| self.unreadable_row_error(&error));
        let state = row.text(10)?;
        let unknown = || StoreError::query(&format!("a piece of work has the state {state:?}"));
        Ok(WorkItem {
            id: text(0)?,
            kind: text(1)?,
            parent: text(2)?,
            space: Space::from_stored(row.text(3)?)
                .map_err(|error| self.unreadable_row_error(&error))?,
            workspace: text(4)?,
            depth: u32::try_from(row.integer(5)?).unwrap_or(u32::MAX),
            session: parse(row.text(6)?)?,
            turn: row.text(7)?.parse().map_err(|error| self.unreadable_row_error(&error))?,
            request: text(8)?,
            title: text(9)?,
            state: WorkState::from_stored(state).ok_or_else(unknown)?,
            due_at: time(11)?,
            created_at: time(12)?,
            started_at: optional_time(13)?,
            ended_at: optional_time(14)?,
            result: text(15)?,
            reply_to: if reply_to.is_empty() { None } else { Some(parse(reply_to)?) },
            is_cancelled: row.boolean(17)?,
        })
    }
}
