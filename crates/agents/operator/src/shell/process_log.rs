//! Lists which commands run in the background, for other processes.

use std::path::PathBuf;
use std::time::Duration;

use lango_protocol::{InvalidName, SessionId, Timestamp};
use lango_store::{Batch, Migration, ProcessIdentity, Row, SchemaComponent, Statement, StoreError};

use super::processes::ProcessState;
use crate::Records;

pub(crate) const COMPONENT: SchemaComponent = SchemaComponent {
    name: "background_processes",
    migrations: &[Migration { version: 1, sqlite: TABLE, postgres: TABLE }],
};

const TABLE: &str = "
CREATE TABLE background_processes (
    id TEXT NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    session TEXT NOT NULL,
    command TEXT NOT NULL,
    directory TEXT NOT NULL,
    owner_pid BIGINT NOT NULL,
    owner_host TEXT NOT NULL,
    owner_start BIGINT NOT NULL,
    started_at BIGINT NOT NULL,
    ended_at BIGINT,
    state TEXT NOT NULL,
    exit_code BIGINT
);
";

/// Limits how long commands that ended are listed.
const RETENTION: Duration = Duration::from_hours(7 * 24);

/// Holds what is known about a command when it starts.
#[derive(Debug, Clone)]
pub(super) struct ProcessEntry {
    /// Globally unique.
    pub(super) id: String,
    /// Unique in this process, and short.
    pub(super) name: String,
    pub(super) session: SessionId,
    pub(super) command: String,
    pub(super) directory: PathBuf,
    pub(super) started: Timestamp,
}

/// Describes a command in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedProcess {
    /// Globally unique.
    pub id: String,
    /// The name in the conversation; unique in its owner.
    pub name: String,
    /// The session it belongs to.
    pub session: SessionId,
    /// The command.
    pub command: String,
    /// The directory it runs in.
    pub directory: String,
    /// The process that started it, and with which it ends.
    pub owner: u32,
    /// The time at which it started.
    pub started_at: Timestamp,
    /// The time at which it ended, if that is known.
    pub ended_at: Option<Timestamp>,
    /// The state in words: `running`, `exited`, `stopped`, `failed`, or `ended with its owner`.
    pub state: String,
    /// The exit code, if there is one.
    pub exit_code: Option<i64>,
}

impl ListedProcess {
    /// Tells whether it runs.
    pub fn is_running(&self) -> bool {
        self.state == "running"
    }
}

impl Records {
    /// Records that a command was started.
    pub(super) async fn record_process_start(
        &self,
        entry: &ProcessEntry,
    ) -> Result<(), StoreError> {
        let database = self.database();
        let owner = ProcessIdentity::current();
        let started = entry.started.as_microseconds();
        let oldest = started - i64::try_from(RETENTION.as_micros()).unwrap_or(i64::MAX);
        let batch = Batch::new()
            .with(
                Statement::new("DELETE FROM background_processes WHERE started_at < $1")
                    .bind(oldest),
            )
            .with(
                Statement::new(
                    "INSERT INTO background_processes (id, name, session, command, \
                     directory, owner_pid, owner_host, owner_start, started_at, state) \
                     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 'running')",
                )
                .bind(entry.id.as_str())
                .bind(entry.name.as_str())
                .bind(entry.session.as_str())
                .bind(lango_text::make_visible(&entry.command))
                .bind(lango_text::make_visible(&entry.directory.to_string_lossy()))
                .bind(owner.pid)
                .bind(owner.host.as_str())
                .bind(owner.start)
                .bind(started),
            );
        database.write(batch).await.map(drop)
    }

    /// Records how a command ended.
    pub(super) async fn record_process_end(&self, id: &str, state: &ProcessState) {
        let database = self.database();
        if *state == ProcessState::Running {
            return;
        }
        let statement = Statement::new(
            "UPDATE background_processes SET state = $2, exit_code = $3, ended_at = $4 \
             WHERE id = $1",
        )
        .bind(id)
        .bind(state.name())
        .bind(state.exit_code().map(i64::from))
        .bind(Timestamp::now().as_microseconds());
        // On an error the list is out of date and says "ended with its owner"; the conversation is
        // not affected.
        if let Err(error) = database.write(statement.into()).await {
            tracing::warn!(id, %error, "the end of a background command was not recorded");
        }
    }

    /// Returns the background commands of every process, the latest first.
    pub async fn list_processes(&self) -> Result<Vec<ListedProcess>, StoreError> {
        let database = self.database();
        let statement = Statement::new(
            "SELECT id, session, command, directory, owner_pid, owner_host, owner_start, \
             started_at, ended_at, state, exit_code, name FROM background_processes \
             ORDER BY started_at DESC",
        );
        database.query(statement).await?.iter().map(read_process).collect()
    }
}

fn read_process(row: &Row) -> Result<ListedProcess, StoreError> {
    let owner = ProcessIdentity {
        pid: u32::try_from(row.integer(4)?).unwrap_or(0),
        host: row.text(5)?.to_owned(),
        start: row.integer(6)?,
    };
    let state = match row.text(9)? {
        "running" if owner.is_gone() => "ended with its owner",
        state => state,
    };
    let corrupt = |error: InvalidName| StoreError::Corrupt {
        location: "background_processes".to_owned(),
        reason: error.to_string(),
    };
    Ok(ListedProcess {
        id: row.text(0)?.to_owned(),
        name: row.text(11)?.to_owned(),
        session: row.text(1)?.parse().map_err(corrupt)?,
        command: row.text(2)?.to_owned(),
        directory: row.text(3)?.to_owned(),
        owner: owner.pid,
        started_at: Timestamp::from_microseconds(row.integer(7)?),
        ended_at: row.optional_integer(8)?.map(Timestamp::from_microseconds),
        state: state.to_owned(),
        exit_code: row.optional_integer(10)?,
    })
}
