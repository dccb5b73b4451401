//! Undoes one change, beneath the workspace's handle.

use std::io;
use std::path::Path;

use lango_text::visible;
use serde::Serialize;

use super::{Change, ChangeKind, PreviousFile};
use crate::digest;
use crate::workspace::{Entry, Location, Workspace};

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
    pub(super) fn is_settled(&self) -> bool {
        self.state != RestoreState::LeftAlone
    }
}

/// Says in words why a change cannot be undone.
type Obstacle = String;

impl Workspace {
    /// Undoes a change; with `dry_run` only reports what would happen.
    pub(crate) fn restore(&self, change: &Change, dry_run: bool) -> RestoreResult {
        let path = visible(&change.path.to_string_lossy());
        let (state, detail) = match self.try_restore(change, dry_run) {
            Ok(Some(detail)) => (RestoreState::Restored, detail),
            Ok(None) => (RestoreState::Unchanged, "already as it was".to_owned()),
            Err(why) => (RestoreState::LeftAlone, why),
        };
        RestoreResult { path, state, detail }
    }

    /// Returns what was done; none if nothing had to be done.
    fn try_restore(&self, change: &Change, dry_run: bool) -> Result<Option<String>, Obstacle> {
        let entry = self.find(&change.path)?;
        let there = || entry.metadata().map(|found| found.is_some()).map_err(in_words);
        let restored = match &change.kind {
            ChangeKind::Write { before, after } => {
                return self.restore_content(&entry, before.as_ref(), after, dry_run);
            }
            ChangeKind::DeleteFile(before) => {
                let content = before.content.as_ref().ok_or_else(too_large)?;
                match entry.digest().map_err(in_words)? {
                    Some(now) if now == digest::of(content) => return Ok(None),
                    Some(_) => return Err(occupied()),
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
                    entry.remove_directory().map_err(in_words)?;
                }
                "removed; it was new".to_owned()
            }
            ChangeKind::Move { to } => {
                let moved = self.find(to)?;
                let still = moved.metadata().map_err(in_words)?.is_some();
                match (there()?, still) {
                    (true, false) => return Ok(None),
                    (true, true) => return Err(occupied()),
                    (false, false) => return Err("it has gone since".to_owned()),
                    (false, true) if dry_run => {}
                    (false, true) => moved.rename_to(&entry).map_err(in_words)?,
                }
                format!("moved back from {}", visible(&to.to_string_lossy()))
            }
            ChangeKind::DeleteLink { .. } | ChangeKind::DeleteDirectory { .. } if there()? => {
                return Err(occupied());
            }
            ChangeKind::DeleteLink { target } => {
                if !dry_run {
                    entry.make_link(target).map_err(in_words)?;
                }
                "is back".to_owned()
            }
            ChangeKind::DeleteDirectory { mode } => {
                if !dry_run {
                    entry.make_directory(*mode).map_err(in_words)?;
                }
                "is back".to_owned()
            }
        };
        Ok(Some(restored))
    }

    fn restore_content(
        &self,
        entry: &Entry,
        before: Option<&PreviousFile>,
        after: &str,
        dry_run: bool,
    ) -> Result<Option<String>, Obstacle> {
        let now = entry.digest().map_err(in_words)?;
        let former = before.and_then(|before| before.content.as_deref());
        if now == former.map(digest::of) && (before.is_none() || former.is_some()) {
            return Ok(None);
        }
        if now.as_deref() != Some(after) {
            return Err("it was changed since by another process".to_owned());
        }
        let Some(before) = before else {
            if !dry_run {
                entry.remove_file().map_err(in_words)?;
            }
            return Ok(Some("removed; it was new".to_owned()));
        };
        let content = former.ok_or_else(too_large)?;
        if !dry_run {
            self.write_back(entry, content, before.mode)?;
        }
        Ok(Some("its former content is back".to_owned()))
    }

    fn write_back(&self, entry: &Entry, content: &[u8], mode: u32) -> Result<(), Obstacle> {
        let target = self.write_target(&Location::from_workspace_path(&entry.path));
        let put = target.and_then(|target| target.replace_with(content, false, Some(mode)));
        put.map_err(|error| error.to_string())
    }

    fn find(&self, path: &Path) -> Result<Entry, Obstacle> {
        self.entry(&Location::from_workspace_path(path)).map_err(|error| error.to_string())
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is used as a function for map_err")]
fn in_words(error: io::Error) -> Obstacle {
    error.to_string()
}

fn occupied() -> Obstacle {
    "something else is there now".to_owned()
}

fn too_large() -> Obstacle {
    "it was too large to be kept".to_owned()
}
