//! Notices changes of what decides in a repository which programs git starts.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::opened_repository::list_deciding_places;
use crate::repositories::is_git_directory;

/// Limits how many entries of a repository get a stamp.
const MAX_STAMP_COUNT: usize = 20_000;

/// Git itself writes this one when it packs, and reads it for no program.
const LIST_OF_REFERENCES: &str = "info/refs";

/// Identifies the state of an entry of a directory. The kernel sets the time with every change, and no
/// program can choose it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EntryStamp {
    device: u64,
    inode: u64,
    changed: (i64, i64),
}

impl EntryStamp {
    /// Returns the stamp of an entry, if it exists. Links are not followed.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let found = path.symlink_metadata().ok()?;
        let changed = (found.ctime(), found.ctime_nsec());
        Some(Self { device: found.dev(), inode: found.ino(), changed })
    }
}

/// Returns the stamps of everything in a repository that decides which programs git starts, also in the
/// repositories of submodules and of other worktrees. The configuration of the repository itself is
/// left out unless `with_config` is set.
///
/// A `.git` file is such a place itself.
pub(crate) fn list_stamps(git: &Path, with_config: bool) -> BTreeMap<PathBuf, EntryStamp> {
    let mut stamps = BTreeMap::new();
    if git.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        let config = git.join("config");
        let places = list_deciding_places(git).into_iter().map(|place| place.path);
        add_stamps(places.filter(|path| with_config || *path != config).collect(), &mut stamps);
    } else {
        add_stamps(vec![git.to_owned()], &mut stamps);
    }
    stamps
}

fn add_stamps(mut waiting: Vec<PathBuf>, stamps: &mut BTreeMap<PathBuf, EntryStamp>) {
    while let Some(path) = waiting.pop() {
        let Some(stamp) = EntryStamp::of(&path) else { continue };
        if stamps.len() == MAX_STAMP_COUNT {
            return;
        }
        if path.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            if is_git_directory(&path) {
                // Git works in it: only what decides there is to stay.
                waiting.extend(list_deciding_places(&path).into_iter().map(|place| place.path));
                continue;
            }
            // What cannot be listed has no entries that git reads.
            let entries = fs::read_dir(&path).into_iter().flatten().flatten();
            waiting.extend(entries.map(|entry| entry.path()));
        } else if !path.ends_with(LIST_OF_REFERENCES) {
            stamps.insert(path, stamp);
        }
    }
}
