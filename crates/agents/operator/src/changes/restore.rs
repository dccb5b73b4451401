//! Taking one change back, beneath the workspace's handle.

use std::io;
use std::path::Path;

use lango_tool::visible;
use serde::Serialize;

use super::{Before, Change, ChangeKind};
use crate::digest;
use crate::workspace::{Entry, Location, Workspace};

/// What became of taking a change back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Restored {
    /// The file or directory, with nothing invisible in its name.
    pub path: String,
    /// What happened.
    pub state: RestoredState,
    /// In words.
    pub detail: String,
}

/// What happened to a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RestoredState {
    /// It is as it was before.
    Restored,
    /// It already was.
    Unchanged,
    /// It was not touched, because that would have lost something.
    LeftAlone,
}

impl Restored {
    /// Whether there is nothing more to do about it.
    pub(super) fn is_settled(&self) -> bool {
        self.state != RestoredState::LeftAlone
    }
}

/// Why a change stays, in words.
type Obstacle = String;

impl Workspace {
    /// Takes a change back, or with `pretend` says what would happen.
    pub(crate) fn restore(&self, change: &Change, pretend: bool) -> Restored {
        let path = visible(&change.path.to_string_lossy());
        let (state, detail) = match self.try_restore(change, pretend) {
            Ok(Some(detail)) => (RestoredState::Restored, detail),
            Ok(None) => (RestoredState::Unchanged, "already as it was".to_owned()),
            Err(why) => (RestoredState::LeftAlone, why),
        };
        Restored { path, state, detail }
    }

    /// What was done; nothing where there is nothing to do.
    fn try_restore(&self, change: &Change, pretend: bool) -> Result<Option<String>, Obstacle> {
        let entry = self.find(&change.path)?;
        let there = || entry.metadata().map(|found| found.is_some()).map_err(in_words);
        let restored = match &change.kind {
            ChangeKind::Write { before, after } => {
                return self.unwrite(&entry, before.as_ref(), after, pretend);
            }
            ChangeKind::DeleteFile(before) => {
                let content = before.content.as_ref().ok_or_else(too_large)?;
                match entry.digest().map_err(in_words)? {
                    Some(now) if now == digest::of(content) => return Ok(None),
                    Some(_) => return Err(occupied()),
                    None if pretend => {}
                    None => self.put_back(&entry, content, before.mode)?,
                }
                "is back".to_owned()
            }
            ChangeKind::MakeDirectory => {
                if !there()? {
                    return Ok(None);
                }
                if !pretend {
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
                    (false, true) if pretend => {}
                    (false, true) => moved.rename_to(&entry).map_err(in_words)?,
                }
                format!("moved back from {}", visible(&to.to_string_lossy()))
            }
            ChangeKind::DeleteLink { .. } | ChangeKind::DeleteDirectory { .. } if there()? => {
                return Err(occupied());
            }
            ChangeKind::DeleteLink { target } => {
                if !pretend {
                    entry.make_link(target).map_err(in_words)?;
                }
                "is back".to_owned()
            }
            ChangeKind::DeleteDirectory { mode } => {
                if !pretend {
                    entry.make_directory(*mode).map_err(in_words)?;
                }
                "is back".to_owned()
            }
        };
        Ok(Some(restored))
    }

    fn unwrite(
        &self,
        entry: &Entry,
        before: Option<&Before>,
        after: &str,
        pretend: bool,
    ) -> Result<Option<String>, Obstacle> {
        let now = entry.digest().map_err(in_words)?;
        let former = before.and_then(|before| before.content.as_deref());
        if now == former.map(digest::of) && (before.is_none() || former.is_some()) {
            return Ok(None);
        }
        if now.as_deref() != Some(after) {
            return Err("it was changed since, by somebody else".to_owned());
        }
        let Some(before) = before else {
            if !pretend {
                entry.remove_file().map_err(in_words)?;
            }
            return Ok(Some("removed; it was new".to_owned()));
        };
        let content = former.ok_or_else(too_large)?;
        if !pretend {
            self.put_back(entry, content, before.mode)?;
        }
        Ok(Some("its former content is back".to_owned()))
    }

    fn put_back(&self, entry: &Entry, content: &[u8], mode: u32) -> Result<(), Obstacle> {
        let target = self.write_target(&Location::known(&entry.path));
        let put = target.and_then(|target| target.replace_with(content, false, Some(mode)));
        put.map_err(|error| error.to_string())
    }

    fn find(&self, path: &Path) -> Result<Entry, Obstacle> {
        self.entry(&Location::known(path)).map_err(|error| error.to_string())
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is the end of the error's way")]
fn in_words(error: io::Error) -> Obstacle {
    error.to_string()
}

fn occupied() -> Obstacle {
    "something else is there now".to_owned()
}

fn too_large() -> Obstacle {
    "it was too large to be kept".to_owned()
}
