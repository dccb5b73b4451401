//! Finds the repositories in a workspace, and disables those that a job made or changed.
//!
//! Git runs programs that the configuration of a repository names, and looks for a repository in
//! the current directory and all above it. So one that a confined command made would run programs
//! outside of the sandbox with the next `git status` of the user.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::directory_walk::{DirectoryListing, DirectoryWalk, ListingError};
use crate::entry_stamp::{EntryStamp, list_stamps};
use crate::opened_repository::OpenedRepository;
use crate::plain_repository::is_plain_repository;
use crate::planted::{PlantedKind, PlantedRepository, disable_repository};

/// Limits how deep below a workspace repositories are kept from being written. At the level landlock, no
/// directory above one takes new names.
const MAX_PROTECTED_DEPTH: usize = 3;
/// Limits how many repositories are kept from being written, each of which costs the job a mount.
const MAX_PROTECTED_COUNT: usize = 256;
/// Limits how many entries of a workspace are listed before a job.
const MAX_ENTRY_COUNT_BEFORE: usize = 200_000;
/// Limits how many entries are listed after a job, new ones included.
const MAX_ENTRY_COUNT_AFTER: usize = 400_000;

/// The names in a repository that decide which programs git starts.
pub(crate) const DECIDING_NAMES: [&str; 7] =
    ["config", "config.worktree", "hooks", "info", "commondir", "modules", "worktrees"];

/// Tells whether git takes a directory for a repository.
pub(crate) fn is_git_directory(directory: &Path) -> bool {
    let has = |name: &str| directory.join(name).symlink_metadata().is_ok();
    // A placeholder is a directory; git reads a file or a link.
    let head = directory.join("HEAD").symlink_metadata();
    head.is_ok_and(|found| !found.is_dir()) && (has("commondir") || (has("objects") && has("refs")))
}

/// The repositories in a workspace before a job.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DirectorySnapshot {
    workspace: PathBuf,
    /// `.git` entries, and directories that are repositories themselves.
    repositories: BTreeMap<PathBuf, RepositoryState>,
    /// The directories of which nothing is known, because of the limit or because they could not be
    /// read. The repositories in them may be the user's.
    unchecked: BTreeSet<PathBuf>,
}

/// How a repository is kept from a job.
#[derive(Debug, Clone, PartialEq, Eq)]
enum RepositoryState {
    /// The job cannot write it.
    Protected,
    /// It is compared after the job.
    Writable(Box<RepositoryBefore>),
}

/// A repository before a job that can write it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct RepositoryBefore {
    opened: OpenedRepository,
    stamps: BTreeMap<PathBuf, EntryStamp>,
}

impl RepositoryBefore {
    fn new(path: &Path) -> Self {
        let opened = OpenedRepository::new(path);
        Self { stamps: list_stamps(path, !opened.has_config()), opened }
    }

    /// Disables what the job changed, unless the repository is as plain git makes it now.
    fn disable_planted(&self, path: &Path) -> Vec<PlantedRepository> {
        if list_stamps(path, !self.opened.has_config()) == self.stamps {
            self.opened.disable_planted()
        } else if is_plain_repository(path) {
            Vec::new()
        } else {
            disable_repository(path).into_iter().collect()
        }
    }
}

impl DirectorySnapshot {
    /// Looks through the directories of a workspace, the nearest first, within a limit of entries.
    pub(crate) fn take(workspace: &Path) -> Self {
        let mut snapshot = Self { workspace: workspace.to_owned(), ..Self::default() };
        let mut walk = DirectoryWalk::new(workspace, MAX_ENTRY_COUNT_BEFORE);
        while let Some(directory) = walk.next_directory() {
            let listing = match directory.listing {
                Ok(listing) => listing,
                Err(ListingError::Gone) => continue,
                Err(ListingError::Limit | ListingError::Unreadable) => {
                    snapshot.unchecked.insert(directory.path);
                    continue;
                }
            };
            for path in list_repositories_at(&directory.path, &listing) {
                let is_protected = directory.depth <= MAX_PROTECTED_DEPTH
                    && snapshot.repositories.len() < MAX_PROTECTED_COUNT;
                let state = if is_protected {
                    RepositoryState::Protected
                } else {
                    RepositoryState::Writable(Box::new(RepositoryBefore::new(&path)))
                };
                snapshot.repositories.insert(path, state);
            }
            if snapshot.enters(&directory.path) {
                walk.enter(listing, directory.depth);
            }
        }
        snapshot
    }

    /// Returns the repositories below the workspace that a job must not write.
    pub(crate) fn protected_repositories(&self) -> impl Iterator<Item = &Path> {
        let all = self.repositories.iter();
        let protected = all.filter(|(_, state)| **state == RepositoryState::Protected);
        protected.map(|(path, _)| path.as_path()).filter(|path| *path != self.workspace)
    }

    /// Returns the directory that the snapshot was taken of.
    pub(crate) fn top(&self) -> &Path {
        &self.workspace
    }

    /// Forgets an entry that is no repository yet, so that it counts as new afterwards.
    pub(crate) fn forget(&mut self, path: &Path) {
        self.repositories.remove(path);
    }

    /// Disables the repositories that a job made, and what it changed in those that it could write, and
    /// returns them. With `keeps_plain`, new ones that are as plain git makes them stay.
    pub(crate) fn disable_planted(&self, keeps_plain: bool) -> Vec<PlantedRepository> {
        let mut planted = Vec::new();
        let mut unchecked = None;
        let mut walk = DirectoryWalk::new(&self.workspace, MAX_ENTRY_COUNT_AFTER);
        while let Some(directory) = walk.next_directory() {
            if self.unchecked.contains(&directory.path) {
                continue;
            }
            let listing = match directory.listing {
                Ok(listing) => listing,
                Err(ListingError::Gone) => continue,
                Err(ListingError::Limit | ListingError::Unreadable) => {
                    unchecked.get_or_insert(directory.path);
                    continue;
                }
            };
            // One that lies deeper would not be protected from the next job.
            let keeps_plain = keeps_plain && directory.depth <= MAX_PROTECTED_DEPTH;
            for path in list_repositories_at(&directory.path, &listing) {
                match self.repositories.get(&path) {
                    Some(RepositoryState::Protected) => {}
                    Some(RepositoryState::Writable(before)) => {
                        planted.extend(before.disable_planted(&path));
                    }
                    None if keeps_plain && is_plain_repository(&path) => {}
                    None => planted.extend(disable_repository(&path)),
                }
            }
            if self.enters(&directory.path) {
                walk.enter(listing, directory.depth);
            }
        }
        planted.extend(unchecked.map(|path| PlantedRepository {
            path,
            renamed: None,
            kind: PlantedKind::Unchecked,
        }));
        planted
    }

    /// Tells whether to look below a directory. A job cannot write to one that is itself a protected
    /// repository.
    fn enters(&self, directory: &Path) -> bool {
        directory == self.workspace
            || self.repositories.get(directory) != Some(&RepositoryState::Protected)
    }
}

/// Returns the `.git` entry of a directory, and the directory itself if it is a repository.
fn list_repositories_at(
    directory: &Path,
    listing: &DirectoryListing,
) -> impl Iterator<Item = PathBuf> + use<> {
    let git = listing.has_git.then(|| directory.join(".git"));
    let itself = listing.has_head && is_git_directory(directory);
    git.into_iter().chain(itself.then(|| directory.to_owned()))
}
