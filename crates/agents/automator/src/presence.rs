//! Knows whether a process runs due work, so that a person can be told when none does.

use std::time::Duration;

use lango_protocol::Timestamp;
use lango_store::{Batch, Database, Durability, ProcessIdentity, Statement, StoreError};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::JobBook;

/// Sets how often a process says that it is there.
const PRESENCE_INTERVAL: Duration = Duration::from_secs(20);

/// Sets after which time a process that says nothing is taken for gone.
const ABSENCE_TIMEOUT: Duration = Duration::from_secs(90);

/// Sets how long the row of a process that says nothing is kept.
const RETENTION: Duration = Duration::from_hours(24);

/// The kind of a process that runs due work as long as it is up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServiceKind {
    /// `lango serve`.
    Server,
    /// `lango worker`.
    Worker,
}

impl ServiceKind {
    fn as_str(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Worker => "worker",
        }
    }
}

/// A client of the user that runs due work while it is open, and is no service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LocalRunner {
    /// A conversation, which stays open until the user leaves it.
    Chat,
    /// A command, which ends by itself.
    Command,
}

/// The time at which new work is due, for what a user is told about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DueTime {
    /// It can run at once.
    Now,
    /// It waits for its time.
    Later,
}

/// Says what to do so that work runs, where no service runs it.
pub(crate) fn describe_absence(local: Option<LocalRunner>, due: DueTime) -> String {
    let text = match (local, due) {
        (Some(LocalRunner::Chat), _) => {
            "It runs while this chat is open. To run it without: lango worker"
        }
        (Some(LocalRunner::Command), DueTime::Now) => {
            "It runs while this command is open, and goes on with: lango worker"
        }
        (Some(LocalRunner::Command) | None, _) => {
            "Nothing runs it yet: work runs while `lango worker`, `lango serve` or `lango chat` is open. \
             Start one and leave it running: lango worker"
        }
    };
    text.to_owned()
}

/// The presence of this process.
#[derive(Clone)]
pub struct Presence {
    database: Database,
    id: String,
    kind: ServiceKind,
    /// The workspace whose work it runs; empty if it runs that of all.
    workspace: String,
}

impl Presence {
    /// Creates the presence of this process, which is not told yet.
    pub fn new(database: Database, kind: ServiceKind, workspace: Option<String>) -> Self {
        let id = Uuid::new_v4().to_string();
        Self { database, id, kind, workspace: workspace.unwrap_or_default() }
    }

    /// Says again and again that this process runs due work, until it is stopped.
    pub async fn keep_telling(self, stop: CancellationToken) {
        while !stop.is_cancelled() {
            if let Err(error) = self.tell().await {
                tracing::debug!(%error, "the presence of this process was not told");
            }
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(PRESENCE_INTERVAL) => {}
            }
        }
        if let Err(error) = self.withdraw().await {
            tracing::debug!(%error, "the end of this process was not told");
        }
    }

    /// Says that this process runs due work.
    async fn tell(&self) -> Result<(), StoreError> {
        let process = ProcessIdentity::current();
        let statement = Statement::new(
            "INSERT INTO automation_services (id, kind, workspace, pid, host, start, seen_at) \
             VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (id) DO UPDATE SET seen_at = $7",
        )
        .bind(self.id.as_str())
        .bind(self.kind.as_str())
        .bind(self.workspace.as_str())
        .bind(process.pid)
        .bind(process.host.as_str())
        .bind(process.start)
        .bind(Timestamp::now().as_microseconds());
        let batch = Batch::from(statement).durability(Durability::ProcessCrash);
        self.database.write(batch).await.map(drop)
    }

    /// Says that this process runs due work no more.
    async fn withdraw(&self) -> Result<(), StoreError> {
        let statement =
            Statement::new("DELETE FROM automation_services WHERE id = $1").bind(self.id.as_str());
        self.database.write(statement.into()).await.map(drop)
    }
}

impl JobBook {
    /// Removes what is kept of processes that are gone, and of spending of long ago.
    pub async fn remove_old(&self, now: Timestamp) -> Result<(), StoreError> {
        remove_old(&self.database, now).await?;
        self.remove_old_spending(now).await
    }
}

/// Removes the rows of processes that ended without a word long ago.
async fn remove_old(database: &Database, now: Timestamp) -> Result<(), StoreError> {
    let retention = i64::try_from(RETENTION.as_micros()).unwrap_or(i64::MAX);
    let statement = Statement::new("DELETE FROM automation_services WHERE seen_at < $1")
        .bind(now.as_microseconds().saturating_sub(retention));
    database.write(statement.into()).await.map(drop)
}

/// Tells whether a process runs the due work of a workspace.
pub(crate) async fn is_anyone_present(
    database: &Database,
    workspace: &str,
) -> Result<bool, StoreError> {
    let statement = Statement::new(
        "SELECT pid, host, start, seen_at FROM automation_services \
         WHERE workspace = '' OR workspace = $1",
    )
    .bind(workspace);
    let now = Timestamp::now();
    for row in database.query(statement).await? {
        let process = ProcessIdentity {
            pid: u32::try_from(row.integer(0)?).unwrap_or(0),
            host: row.text(1)?.to_owned(),
            start: row.integer(2)?,
        };
        let seen = Timestamp::from_microseconds(row.integer(3)?);
        if now.since(seen) <= ABSENCE_TIMEOUT && !process.is_gone() {
            return Ok(true);
        }
    }
    Ok(false)
}
