//! Records changes in the database.

use std::path::{Path, PathBuf};
use std::time::Duration;

use lango_keystore::KeyStoreError;
use lango_protocol::{SessionId, Timestamp, TurnId};
use lango_store::{
    Batch, Database, Durability, Migration, Row, SchemaComponent, Statement, StoreError,
};
use lango_tool::{ToolContext, ToolError};

use super::columns::ChangeColumns;
use super::{ChangeKind, FileChange, PreviousFile, RestoreResult};
use crate::{Records, Workspace};

pub(crate) const COMPONENT: SchemaComponent = SchemaComponent {
    name: "file_changes",
    migrations: &[
        Migration { version: 1, sqlite: SQLITE, postgres: POSTGRES },
        Migration { version: 2, sqlite: SEALED, postgres: SEALED },
    ],
};

// 1 if `path`, `other` and `content` are encrypted, because a secret of the vault is in them.
const SEALED: &str = "ALTER TABLE file_changes ADD COLUMN sealed BIGINT NOT NULL DEFAULT 0;";

// Paths are stored as bytes, because a file name need not be text.
const SQLITE: &str = "
CREATE TABLE file_changes (
    turn TEXT NOT NULL,
    position BIGINT NOT NULL,
    session TEXT NOT NULL,
    workspace BLOB NOT NULL,
    path BLOB NOT NULL,
    kind TEXT NOT NULL,
    other BLOB,
    content BLOB,
    mode BIGINT,
    after TEXT,
    at BIGINT NOT NULL,
    undone BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (turn, position)
);
";

const POSTGRES: &str = "
CREATE TABLE file_changes (
    turn TEXT NOT NULL,
    position BIGINT NOT NULL,
    session TEXT NOT NULL,
    workspace BYTEA NOT NULL,
    path BYTEA NOT NULL,
    kind TEXT NOT NULL,
    other BYTEA,
    content BYTEA,
    mode BIGINT,
    after TEXT,
    at BIGINT NOT NULL,
    undone BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (turn, position)
);
";

/// Limits how long changes can be undone.
const UNDO_RETENTION: Duration = Duration::from_hours(30 * 24);

/// Describes a turn that changed files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedTurn {
    /// The turn.
    pub turn: TurnId,
    /// Its session.
    pub session: SessionId,
    /// The workspace.
    pub workspace: PathBuf,
    /// The time of the first change.
    pub at: Timestamp,
    /// The number of changes that have not been undone.
    pub changes: u64,
}

impl Records {
    /// Records changes that are about to be made, on disk before this returns.
    pub(crate) async fn record_changes(
        &self,
        context: &ToolContext,
        workspace: &Workspace,
        changes: &[FileChange],
    ) -> Result<(), ToolError> {
        let database = self.database();
        if changes.is_empty() {
            return Ok(());
        }
        let turn = context.turn.to_string();
        let write = async {
            let next = next_position(database, &turn).await?;
            let now = Timestamp::now().as_microseconds();
            let mut batch =
                Batch::with_capacity(changes.len() + 1).durability(Durability::PowerLoss);
            let oldest = now - i64::try_from(UNDO_RETENTION.as_micros()).unwrap_or(i64::MAX);
            batch.push(Statement::new("DELETE FROM file_changes WHERE at < $1").bind(oldest));
            for (change, position) in changes.iter().zip(next..) {
                let columns = read_columns(change);
                let (columns, is_sealed) = match self.sealer() {
                    Some(sealer) if columns.have_secret(sealer) => {
                        (columns.seal(sealer, (&turn, position)).await?, true)
                    }
                    _ => (columns, false),
                };
                let insert = build_insert(change, columns)
                    .bind(is_sealed)
                    .bind(turn.as_str())
                    .bind(position)
                    .bind(context.session.as_str())
                    .bind(path_to_bytes(workspace.root()))
                    .bind(now);
                batch.push(insert);
            }
            database.write(batch).await?;
            Ok(())
        };
        write.await.map_err(|error: KeyStoreError| {
            ToolError::Failed(format!(
                "nothing was changed, because the change could not be recorded for undo: {error}"
            ))
        })
    }

    /// Returns the turns whose changes can be undone, the latest first.
    pub async fn list_changed_turns(&self) -> Result<Vec<ChangedTurn>, StoreError> {
        let database = self.database();
        let statement = Statement::new(
            "SELECT turn, MIN(session), MIN(workspace), MIN(at), COUNT(*) FROM file_changes \
             WHERE undone = 0 GROUP BY turn ORDER BY MIN(at) DESC",
        );
        let rows = database.query(statement).await?;
        let read = |row: &Row| {
            let corrupt = |error: lango_protocol::InvalidName| StoreError::Corrupt {
                location: "file_changes".to_owned(),
                reason: error.to_string(),
            };
            Ok(ChangedTurn {
                turn: row.text(0)?.parse().map_err(corrupt)?,
                session: row.text(1)?.parse().map_err(corrupt)?,
                workspace: path_from_bytes(row.blob(2)?),
                at: Timestamp::from_microseconds(row.integer(3)?),
                changes: row.unsigned(4)?,
            })
        };
        rows.iter().map(read).collect()
    }

    /// Undoes what a turn changed, the latest change first; with `dry_run` only reports what would
    /// happen.
    pub async fn undo(
        &self,
        turn: TurnId,
        workspace: &Workspace,
        dry_run: bool,
    ) -> Result<Vec<RestoreResult>, KeyStoreError> {
        let database = self.database();
        let statement = Statement::new(
            "SELECT position, path, kind, other, content, mode, after, sealed FROM file_changes \
             WHERE turn = $1 AND undone = 0 ORDER BY position DESC",
        )
        .bind(turn.to_string());
        let mut restored = Vec::new();
        for row in database.query(statement).await? {
            let blob = |column| row.optional_blob(column).map(|bytes| bytes.map(<[u8]>::to_vec));
            let path = row.blob(1)?.to_vec();
            let mut columns = ChangeColumns { path, other: blob(3)?, content: blob(4)? };
            if row.boolean(7)? {
                let sealer = self.sealer().ok_or(KeyStoreError::Locked)?;
                columns = columns.open(sealer, (&turn.to_string(), row.integer(0)?)).await?;
            }
            let change = read_change(&row, columns)?;
            let result = workspace.restore_change(&change, dry_run);
            if !dry_run && result.is_settled() {
                let done = Statement::new(
                    "UPDATE file_changes SET undone = 1 WHERE turn = $1 AND position = $2",
                )
                .bind(turn.to_string())
                .bind(row.integer(0)?);
                database.write(done.into()).await?;
            }
            restored.push(result);
        }
        Ok(restored)
    }
}

async fn next_position(database: &Database, turn: &str) -> Result<i64, StoreError> {
    let last =
        Statement::new("SELECT COALESCE(MAX(position), 0) FROM file_changes WHERE turn = $1");
    let rows = database.query(last.bind(turn)).await?;
    rows.first().map_or(Ok(1), |row| Ok(row.integer(0)? + 1))
}

/// Returns the file that a change replaces or deletes.
fn previous_file(change: &FileChange) -> Option<&PreviousFile> {
    match &change.kind {
        ChangeKind::Write { before, .. } => before.as_ref(),
        ChangeKind::DeleteFile(before) => Some(before),
        _ => None,
    }
}

/// Returns the names and the content that are recorded of a change.
fn read_columns(change: &FileChange) -> ChangeColumns {
    let other = match &change.kind {
        ChangeKind::DeleteLink { target } | ChangeKind::MakeLink { target } => Some(target),
        ChangeKind::Move { to } => Some(to),
        _ => None,
    };
    ChangeColumns {
        path: path_to_bytes(&change.path),
        other: other.map(|path| path_to_bytes(path)),
        content: previous_file(change).and_then(|before| before.content.clone()),
    }
}

/// Builds the statement for a change; the caller binds the columns that all changes have.
fn build_insert(change: &FileChange, columns: ChangeColumns) -> Statement {
    let (kind, after) = match &change.kind {
        ChangeKind::Write { after, .. } => ("write", Some(after)),
        ChangeKind::DeleteFile(_) => ("delete", None),
        ChangeKind::DeleteLink { .. } => ("unlink", None),
        ChangeKind::DeleteDirectory { .. } => ("rmdir", None),
        ChangeKind::MakeDirectory => ("mkdir", None),
        ChangeKind::MakeLink { .. } => ("symlink", None),
        ChangeKind::Move { .. } => ("move", None),
    };
    let mode = match &change.kind {
        ChangeKind::DeleteDirectory { mode } => Some(*mode),
        _ => previous_file(change).map(|before| before.mode),
    };
    Statement::new(
        "INSERT INTO file_changes \
         (path, kind, other, content, mode, after, sealed, turn, position, session, workspace, at) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
    )
    .bind(columns.path)
    .bind(kind)
    .bind(columns.other)
    .bind(columns.content)
    .bind(mode)
    .bind(after.map(String::as_str))
}

fn read_change(row: &Row, columns: ChangeColumns) -> Result<FileChange, StoreError> {
    let ChangeColumns { path, other, content } = columns;
    let mode = || {
        let mode = row.optional_integer(5)?.and_then(|mode| u32::try_from(mode).ok());
        Ok::<u32, StoreError>(mode.unwrap_or(0o600))
    };
    let before = || -> Result<PreviousFile, StoreError> {
        Ok(PreviousFile { content: content.clone(), mode: mode()? })
    };
    let other = || {
        other.as_deref().map(path_from_bytes).ok_or_else(|| StoreError::Corrupt {
            location: "file_changes".to_owned(),
            reason: "a change has no second path".to_owned(),
        })
    };
    let kind = match row.text(2)? {
        "write" => ChangeKind::Write {
            before: if row.is_null(5)? { None } else { Some(before()?) },
            after: row.optional_text(6)?.unwrap_or_default().to_owned(),
        },
        "delete" => ChangeKind::DeleteFile(before()?),
        "unlink" => ChangeKind::DeleteLink { target: other()? },
        "rmdir" => ChangeKind::DeleteDirectory { mode: mode()? },
        "mkdir" => ChangeKind::MakeDirectory,
        "symlink" => ChangeKind::MakeLink { target: other()? },
        "move" => ChangeKind::Move { to: other()? },
        unknown => {
            return Err(StoreError::Corrupt {
                location: "file_changes".to_owned(),
                reason: format!("a change of the unknown kind {unknown:?}"),
            });
        }
    };
    Ok(FileChange { path: path_from_bytes(&path), kind })
}

fn path_to_bytes(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt as _;
    path.as_os_str().as_bytes().to_vec()
}

fn path_from_bytes(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}
