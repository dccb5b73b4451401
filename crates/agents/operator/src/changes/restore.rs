//! Undoes one change, beneath the workspace's handle.

use std::io;
use std::path::Path;

use lango_text::make_visible;
use serde::Serialize;

use super::{ChangeKind, FileChange, PreviousFile};
use crate::digest;
use crate::workspace::{DirectoryEntry, Workspace, WorkspacePath};

/// Describes the result of undoing a change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RestoreResult {
    /// The file or directory, with invisible characters written out.
    pub path: String,
    /// The outcome.
    pub state: RestoreState,
    /// The outcome in words.
    pub detail: String,
}

/// Tells what happened to a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RestoreState {
    /// It was restored to its previous state.
    Restored,
    /// It already was in its previous state.
    Unchanged,
    /// It was not touched, because that would have lost data.
    LeftAlone,
}

impl RestoreResult {
    /// Tells whether nothing is left to do about the change.
    pub(crate) fn is_settled(&self) -> bool {
        self.state != RestoreState::LeftAlone
    }
}

/// Says in words why a change cannot be undone.
type UndoObstacle = String;

impl Workspace {
    /// Undoes a change; with `dry_run` only reports what would happen.
    pub(crate) fn restore_change(&self, change: &FileChange, dry_run: bool) -> RestoreResult {
        let path = make_visible(&change.path.to_string_lossy());
        let (state, detail) = match self.try_restore(change, dry_run) {
            Ok(Some(detail)) => (RestoreState::Restored, detail),
            Ok(None) => (RestoreState::Unchanged, "already as it was".to_owned()),
            Err(why) => (RestoreState::LeftAlone, why),
        };
        RestoreResult { path, state, detail }
    }

    /// Returns what was done; none if nothing had to be done.
    fn try_restore(
        &self,
        change: &FileChange,
        dry_run: bool,
    ) -> Result<Option<String>, UndoObstacle> {
        let entry = self.find_entry(&change.path)?;
        let there = || entry.read_metadata().map(|found| found.is_some()).map_err(describe_error);
        let restored = match &change.kind {
            ChangeKind::Write { before, after } => {
                return self.restore_content(&entry, before.as_ref(), after, dry_run);
            }
            ChangeKind::DeleteFile(before) => {
                let content = before.content.as_ref().ok_or_else(too_large_obstacle)?;
                match entry.compute_digest().map_err(describe_error)? {
                    Some(now) if now == digest::sha256_hex(content) => return Ok(None),
                    Some(_) => return Err(occupied_obstacle()),
                    None if dry_run => {}
                    None => self.write_back(&entry, content, before.mode)?,
                }
                "is back".to_owned()
            }
            ChangeKind::MakeDirectory => {
                if !there()? {
                    return Ok(None);
                }
                if !dry_run {
                    entry.remove_directory().map_err(describe_error)?;
                }
                "removed; it was new".to_owned()
            }
            ChangeKind::MakeLink { target } => {
                if !there()? {
                    return Ok(None);
                }
                if entry.read_link().ok().as_ref() != Some(target) {
                    return Err(occupied_obstacle());
                }
                if !dry_run {
                    entry.remove_file().map_err(describe_error)?;
                }
                "removed; it was new".to_owned()
            }
            ChangeKind::Move { to } => {
                let moved = self.find_entry(to)?;
                let still = moved.read_metadata().map_err(describe_error)?.is_some();
                match (there()?, still) {
                    (true, false) => return Ok(None),
                    (true, true) => return Err(occupied_obstacle()),
                    (false, false) => return Err("it has gone since".to_owned()),
                    (false, true) if dry_run => {}
                    (false, true) => moved.rename_to(&entry).map_err(describe_error)?,
                }
                format!("moved back from {}", make_visible(&to.to_string_lossy()))
            }
            ChangeKind::DeleteLink { .. } | ChangeKind::DeleteDirectory { .. } if there()? => {
                return Err(occupied_obstacle());
            }
            ChangeKind::DeleteLink { target } => {
                if !dry_run {
                    entry.make_link(target).map_err(describe_error)?;
                }
                "is back".to_owned()
            }
            ChangeKind::DeleteDirectory { mode } => {
                if !dry_run {
                    entry.make_directory(*mode).map_err(describe_error)?;
                }
                "is back".to_owned()
            }
        };
        Ok(Some(restored))
    }

    fn restore_content(
        &self,
        entry: &DirectoryEntry,
        before: Option<&PreviousFile>,
        after: &str,
        dry_run: bool,
    ) -> Result<Option<String>, UndoObstacle> {
        let now = entry.compute_digest().map_err(describe_error)?;
        let former = before.and_then(|before| before.content.as_deref());
        if now == former.map(digest::sha256_hex) && (before.is_none() || former.is_some()) {
            return Ok(None);
        }
        if now.as_deref() != Some(after) {
            return Err("it was changed since by another process".to_owned());
        }
        let Some(before) = before else {
            if !dry_run {
                entry.remove_file().map_err(describe_error)?;
            }
            return Ok(Some("removed; it was new".to_owned()));
        };
        let content = former.ok_or_else(too_large_obstacle)?;
        if !dry_run {
            self.write_back(entry, content, before.mode)?;
        }
        Ok(Some("its former content is back".to_owned()))
    }

    fn write_back(
        &self,
        entry: &DirectoryEntry,
        content: &[u8],
        mode: u32,
    ) -> Result<(), UndoObstacle> {
        let target = self.write_target(&WorkspacePath::from_workspace_path(&entry.path));
        let put = target.and_then(|target| target.replace_with(content, false, Some(mode)));
        put.map_err(|error| error.to_string())
    }

    fn find_entry(&self, path: &Path) -> Result<DirectoryEntry, UndoObstacle> {
        self.find_entry_to_change(&WorkspacePath::from_workspace_path(path))
            .map_err(|error| error.to_string())
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is used as a function for map_err")]
fn describe_error(error: io::Error) -> UndoObstacle {
    error.to_string()
}

fn occupied_obstacle() -> UndoObstacle {
    "something else is there now".to_owned()
}

fn too_large_obstacle() -> UndoObstacle {
    "it was too large to be kept".to_owned()
}
