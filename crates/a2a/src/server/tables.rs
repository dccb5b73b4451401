//! Stores the owner, the turns and the notifications of each task. Times are milliseconds since the
//! epoch, as on the wire. The events of a task are in the journal.

use a2a::TaskState;
use lango_keystore::{KeyStore, KeyStoreError, ValueSealer};
use lango_protocol::{Caller, Event, SessionId, TurnId};
use lango_store::{
    Batch, Database, Journal, Migration, Row, SchemaComponent, SqlValue, Statement, StoreError,
};

use super::projection::to_milliseconds;

/// Names the credential of the vault whose key encrypts the credentials of notifications.
const CREDENTIALS_KEY: &str = "a2a/push-notifications";

pub(crate) const COMPONENT: SchemaComponent = SchemaComponent {
    name: "a2a_server",
    migrations: &[
        Migration { version: 1, sqlite: TABLES, postgres: TABLES },
        Migration { version: 2, sqlite: TURN_INDEX, postgres: TURN_INDEX },
        Migration { version: 3, sqlite: SQLITE_SEALED, postgres: POSTGRES_SEALED },
        Migration { version: 4, sqlite: ERASURES, postgres: ERASURES },
    ],
};

const TURN_INDEX: &str = "CREATE INDEX a2a_turns_of_turn ON a2a_turns (turn);";

// `token` and `credentials` are what an earlier version stored in plain text; now both are in `sealed`.
const SQLITE_SEALED: &str = "ALTER TABLE a2a_notifications ADD COLUMN sealed BLOB;";
const POSTGRES_SEALED: &str = "ALTER TABLE a2a_notifications ADD COLUMN sealed BYTEA;";

// Names the tables whose files still have to be freed of what was in them in plain text.
const ERASURES: &str = "CREATE TABLE a2a_erasures (name TEXT NOT NULL PRIMARY KEY);";

// `pending` is the message of a turn that an earlier version accepted and that may not have begun;
// now such a turn is in the queue of the journal. `ended` says how a task ended that no event of its turns ended. `revealed` is 0 while it
// is undecided whether the answer is a message or a task.
const TABLES: &str = "
CREATE TABLE a2a_tasks (
    id TEXT NOT NULL PRIMARY KEY,
    caller TEXT NOT NULL,
    context TEXT NOT NULL,
    session TEXT NOT NULL,
    state TEXT NOT NULL,
    status_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL,
    revealed BIGINT NOT NULL,
    turns BIGINT NOT NULL,
    ended TEXT,
    ended_at BIGINT,
    traceparent TEXT
);
CREATE INDEX a2a_tasks_of_caller ON a2a_tasks (caller, status_at, id);
CREATE INDEX a2a_tasks_in_state ON a2a_tasks (state);
CREATE TABLE a2a_turns (
    task TEXT NOT NULL,
    position BIGINT NOT NULL,
    turn TEXT NOT NULL,
    message_id TEXT NOT NULL,
    repeat_key TEXT UNIQUE,
    pending TEXT,
    at BIGINT NOT NULL,
    PRIMARY KEY (task, position)
);
CREATE TABLE a2a_notifications (
    task TEXT NOT NULL,
    id TEXT NOT NULL,
    url TEXT NOT NULL,
    token TEXT,
    scheme TEXT,
    credentials TEXT,
    version TEXT NOT NULL,
    sent BIGINT NOT NULL,
    done BIGINT NOT NULL,
    PRIMARY KEY (task, id)
);
";

/// The end of a task that no event of its turns ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ForcedEnd {
    /// The caller stopped it while it waited for an answer.
    Canceled,
    /// Its turn could not begin.
    Failed,
}

/// A stored task.
#[derive(Debug, Clone)]
pub(crate) struct TaskRow {
    pub(crate) id: String,
    pub(crate) caller: Caller,
    pub(crate) context: String,
    pub(crate) session: SessionId,
    /// The last known state.
    pub(crate) state: TaskState,
    pub(crate) status_at: i64,
    pub(crate) created_at: i64,
    pub(crate) revealed: bool,
    pub(crate) turns: u32,
    pub(crate) ended: Option<(ForcedEnd, i64)>,
    pub(crate) traceparent: Option<String>,
}

impl TaskRow {
    /// Tells whether the task was ended without its turn before this event, which then changes
    /// nothing.
    pub(crate) fn ended_before(&self, event: &Event) -> bool {
        self.ended.is_some_and(|(_, at)| to_milliseconds(event.at) > at)
    }
}

/// A turn of a task.
#[derive(Debug, Clone)]
pub(crate) struct TurnRow {
    pub(crate) position: u32,
    pub(crate) turn: TurnId,
    pub(crate) message_id: String,
    /// The message as an earlier version received it, until the journal has it.
    pub(crate) pending: Option<String>,
    pub(crate) at: i64,
}

/// A task whose newest turn had not ended when it was last stored.
#[derive(Debug, Clone)]
pub(crate) struct WorkingTask {
    pub(crate) id: String,
    pub(crate) caller: Caller,
    pub(crate) turn: TurnId,
}

/// A turn that is about to begin.
#[derive(Debug, Clone)]
pub(crate) struct NewTurn {
    pub(crate) turn: TurnId,
    pub(crate) message_id: String,
    /// Equal for every repetition of the message; none if repetitions count as new messages.
    pub(crate) repeat_key: Option<String>,
    pub(crate) at: i64,
}

/// The filter and the position of a list.
#[derive(Debug, Clone)]
pub(crate) struct TaskListQuery {
    pub(crate) caller: Caller,
    pub(crate) context: Option<String>,
    pub(crate) state: Option<TaskState>,
    pub(crate) since: Option<i64>,
    /// Only tasks after this position are listed.
    pub(crate) after: Option<(i64, String)>,
    pub(crate) limit: u32,
}

/// Reads and writes the tables. Clones share the connections.
#[derive(Clone)]
pub(crate) struct TaskTables {
    pub(super) database: Database,
    /// Encrypts the credentials of notifications.
    pub(super) sealer: ValueSealer,
}

const COLUMNS: &str = "id, caller, context, session, state, status_at, created_at, revealed, turns, \
                       ended, ended_at, traceparent";

impl TaskTables {
    pub(crate) async fn open(database: Database, store: KeyStore) -> Result<Self, KeyStoreError> {
        database.migrate(&COMPONENT).await?;
        let sealer = ValueSealer::new(store, CREDENTIALS_KEY.parse()?);
        Ok(Self { database, sealer })
    }

    /// Inserts a task with its first turn, and queues the turn. Returns [`StoreError::Conflict`] if the
    /// message is a repetition.
    pub(crate) async fn create_task(
        &self,
        task: &TaskRow,
        turn: &NewTurn,
        promise: Statement,
    ) -> Result<(), StoreError> {
        let statement = Statement::new(
            "INSERT INTO a2a_tasks (id, caller, context, session, state, status_at, created_at, \
             revealed, turns, traceparent) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 1, $9)",
        )
        .bind(task.id.as_str())
        .bind(task.caller.as_str())
        .bind(task.context.as_str())
        .bind(task.session.as_str())
        .bind(state_name(&task.state))
        .bind(task.status_at)
        .bind(task.created_at)
        .bind(task.revealed)
        .bind(task.traceparent.clone());
        let batch = Batch::new().with(statement).with(insert_turn(&task.id, 1, turn)).with(promise);
        self.database.write(batch).await.map(drop)
    }

    /// Inserts a further turn of a task that waits for one, and queues it. Returns
    /// [`StoreError::Conflict`] if another turn was added first, or if the message is a repetition.
    pub(crate) async fn add_turn(
        &self,
        task: &TaskRow,
        turn: &NewTurn,
        promise: Statement,
    ) -> Result<(), StoreError> {
        let statement = Statement::new(
            "UPDATE a2a_tasks SET turns = turns + 1, state = $3, status_at = $4 \
             WHERE id = $1 AND turns = $2 AND ended IS NULL",
        )
        .bind(task.id.as_str())
        .bind(task.turns)
        .bind(state_name(&TaskState::Working))
        .bind(turn.at)
        .expect_rows(1);
        let row = insert_turn(&task.id, task.turns + 1, turn);
        let batch = Batch::new().with(statement).with(row).with(promise);
        self.database.write(batch).await.map(drop)
    }

    /// Returns the task that an earlier copy of this message created.
    pub(crate) async fn find_task_of_repetition(
        &self,
        key: &str,
    ) -> Result<Option<String>, StoreError> {
        let statement =
            Statement::new("SELECT task FROM a2a_turns WHERE repeat_key = $1").bind(key);
        let rows = self.database.query(statement).await?;
        rows.first().map(|row| row.text(0).map(str::to_owned)).transpose()
    }

    /// Returns a task of any caller.
    pub(crate) async fn find_task(&self, id: &str) -> Result<Option<TaskRow>, StoreError> {
        let statement =
            Statement::new(format!("SELECT {COLUMNS} FROM a2a_tasks WHERE id = $1")).bind(id);
        let rows = self.database.query(statement).await?;
        rows.first().map(read_task_row).transpose()
    }

    /// Returns the turns of a task, in order.
    pub(crate) async fn list_turns(&self, task: &str) -> Result<Vec<TurnRow>, StoreError> {
        let statement = Statement::new(
            "SELECT position, turn, message_id, pending, at FROM a2a_turns WHERE task = $1 \
             ORDER BY position",
        )
        .bind(task);
        let rows = self.database.query(statement).await?;
        rows.iter().map(read_turn_row).collect()
    }

    /// Stores the state of a task. Any pending message is in the journal by then.
    pub(crate) async fn set_state(
        &self,
        task: &str,
        state: &TaskState,
        at: i64,
        revealed: bool,
    ) -> Result<(), StoreError> {
        let status = Statement::new(
            "UPDATE a2a_tasks SET state = $2, status_at = $3, revealed = $4 \
             WHERE id = $1 AND ended IS NULL",
        )
        .bind(task)
        .bind(state_name(state))
        .bind(at)
        .bind(revealed);
        let pending = Statement::new(
            "UPDATE a2a_turns SET pending = NULL WHERE task = $1 AND pending IS NOT NULL",
        )
        .bind(task);
        self.database.write(Batch::new().with(status).with(pending)).await.map(drop)
    }

    /// Ends a task without its turn, unless it has ended or continued meanwhile, and withdraws the turn
    /// if it has not begun. Returns whether it did.
    pub(crate) async fn force_end(
        &self,
        task: &TaskRow,
        turn: Option<TurnId>,
        how: ForcedEnd,
        at: i64,
    ) -> Result<bool, StoreError> {
        let (name, state) = match how {
            ForcedEnd::Canceled => ("canceled", TaskState::Canceled),
            ForcedEnd::Failed => ("failed", TaskState::Failed),
        };
        let status = Statement::new(
            "UPDATE a2a_tasks SET ended = $2, ended_at = $3, state = $4, status_at = $3, \
             revealed = 1 WHERE id = $1 AND turns = $5 AND ended IS NULL \
             AND state NOT IN ('completed', 'failed', 'canceled', 'rejected')",
        )
        .bind(task.id.as_str())
        .bind(name)
        .bind(at)
        .bind(state_name(&state))
        .bind(task.turns);
        let pending = Statement::new(
            "UPDATE a2a_turns SET pending = NULL WHERE task = $1 AND pending IS NOT NULL",
        )
        .bind(task.id.as_str());
        let mut batch = Batch::new().with(status).with(pending);
        if let Some(turn) = turn {
            batch.push(Journal::build_withdrawal(turn));
        }
        let changed = self.database.write(batch).await?;
        Ok(changed.first() == Some(&1))
    }

    /// Returns the tasks that had not ended when last stored, the oldest first.
    pub(crate) async fn list_unfinished(&self) -> Result<Vec<TaskRow>, StoreError> {
        let statement = Statement::new(format!(
            "SELECT {COLUMNS} FROM a2a_tasks WHERE state IN ('submitted', 'working', \
             'input_required') ORDER BY created_at, id"
        ));
        let rows = self.database.query(statement).await?;
        // A task that cannot be read does not block the others.
        let task = |row| {
            let task = read_task_row(row);
            task.inspect_err(|error| tracing::error!(%error, "a stored task is damaged")).ok()
        };
        Ok(rows.iter().filter_map(task).collect())
    }

    /// Returns the tasks whose newest turn had not ended when last stored, with that turn.
    pub(crate) async fn list_working(&self) -> Result<Vec<WorkingTask>, StoreError> {
        let statement = Statement::new(
            "SELECT t.id, t.caller, u.turn FROM a2a_tasks AS t \
             JOIN a2a_turns AS u ON u.task = t.id AND u.position = t.turns \
             WHERE t.state IN ('submitted', 'working') AND t.ended IS NULL",
        );
        let rows = self.database.query(statement).await?;
        let task = |row: &Row| {
            Ok(WorkingTask {
                id: row.text(0)?.to_owned(),
                caller: row.text(1)?.parse().map_err(|error| unreadable_row_error(&error))?,
                turn: row.text(2)?.parse().map_err(|error| unreadable_row_error(&error))?,
            })
        };
        rows.iter().map(task).collect()
    }

    /// Returns a page of tasks, the latest change first, and the total number.
    pub(crate) async fn list_tasks(
        &self,
        listing: &TaskListQuery,
    ) -> Result<(Vec<TaskRow>, u64), StoreError> {
        const WHICH: &str = "FROM a2a_tasks WHERE caller = $1 AND revealed = 1 \
                             AND (context = $2 OR $3 = 1) AND (state = $4 OR $5 = 1) \
                             AND status_at >= $6";
        let bound = |sql: String| {
            Statement::new(sql)
                .bind(listing.caller.as_str())
                .bind(listing.context.clone())
                .bind(i64::from(listing.context.is_none()))
                .bind(listing.state.as_ref().map(state_name))
                .bind(i64::from(listing.state.is_none()))
                .bind(listing.since.unwrap_or(i64::MIN))
        };
        let (at, id) = listing.after.clone().unwrap_or((i64::MAX, String::new()));
        let page = bound(format!(
            "SELECT {COLUMNS} {WHICH} AND (status_at < $7 OR (status_at = $7 AND id < $8)) \
             ORDER BY status_at DESC, id DESC LIMIT $9"
        ))
        .bind(at)
        .bind(id)
        .bind(listing.limit);
        let rows = self.database.query(page).await?;
        let count = self.database.query(bound(format!("SELECT COUNT(*) {WHICH}"))).await?;
        let total = count.first().map_or(Ok(0), |row| row.unsigned(0))?;
        Ok((rows.iter().map(read_task_row).collect::<Result<_, _>>()?, total))
    }
}

fn insert_turn(task: &str, position: u32, turn: &NewTurn) -> Statement {
    Statement::new(
        "INSERT INTO a2a_turns (task, position, turn, message_id, repeat_key, at) \
         VALUES ($1, $2, $3, $4, $5, $6)",
    )
    .bind(task)
    .bind(position)
    .bind(turn.turn.to_string())
    .bind(turn.message_id.as_str())
    .bind(SqlValue::from(turn.repeat_key.clone()))
    .bind(turn.at)
}

fn read_turn_row(row: &Row) -> Result<TurnRow, StoreError> {
    Ok(TurnRow {
        position: u32::try_from(row.unsigned(0)?).unwrap_or(u32::MAX),
        turn: row.text(1)?.parse().map_err(|error| unreadable_row_error(&error))?,
        message_id: row.text(2)?.to_owned(),
        pending: row.optional_text(3)?.map(str::to_owned),
        at: row.integer(4)?,
    })
}

fn read_task_row(row: &Row) -> Result<TaskRow, StoreError> {
    let ended = match (row.optional_text(9)?, row.optional_integer(10)?) {
        (Some("canceled"), Some(at)) => Some((ForcedEnd::Canceled, at)),
        (Some(_), Some(at)) => Some((ForcedEnd::Failed, at)),
        _ => None,
    };
    Ok(TaskRow {
        id: row.text(0)?.to_owned(),
        caller: row.text(1)?.parse().map_err(|error| unreadable_row_error(&error))?,
        context: row.text(2)?.to_owned(),
        session: row.text(3)?.parse().map_err(|error| unreadable_row_error(&error))?,
        state: parse_state_name(row.text(4)?),
        status_at: row.integer(5)?,
        created_at: row.integer(6)?,
        revealed: row.boolean(7)?,
        turns: u32::try_from(row.unsigned(8)?).unwrap_or(u32::MAX),
        ended,
        traceparent: row.optional_text(11)?.map(str::to_owned),
    })
}

fn unreadable_row_error(error: &dyn std::error::Error) -> StoreError {
    StoreError::Query { reason: error.to_string() }
}

fn state_name(state: &TaskState) -> &'static str {
    match state {
        TaskState::Unspecified | TaskState::Submitted => "submitted",
        TaskState::Working => "working",
        TaskState::Completed => "completed",
        TaskState::Failed => "failed",
        TaskState::Canceled => "canceled",
        TaskState::InputRequired => "input_required",
        TaskState::Rejected => "rejected",
        TaskState::AuthRequired => "auth_required",
    }
}

fn parse_state_name(name: &str) -> TaskState {
    match name {
        "working" => TaskState::Working,
        "completed" => TaskState::Completed,
        "failed" => TaskState::Failed,
        "canceled" => TaskState::Canceled,
        "input_required" => TaskState::InputRequired,
        "rejected" => TaskState::Rejected,
        "auth_required" => TaskState::AuthRequired,
        _ => TaskState::Submitted,
    }
}
