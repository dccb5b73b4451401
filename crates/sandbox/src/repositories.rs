//! Finds the repositories in a workspace, and disables those that a job made.
//!
//! Git runs programs that the configuration of a repository names, and looks for a repository in
//! the current directory and all above it. So one that a confined command made would run programs
//! outside of the sandbox with the next `git status` of the user.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, RenameFlags, ResolveFlags, openat2, renameat_with};

use crate::plain_repository::is_plain_repository;

/// Limits how deep below a workspace repositories are searched.
pub const MAX_NESTED_DEPTH: usize = 3;
/// Limits how many entries are checked for them.
pub const MAX_NESTED_ENTRY_COUNT: usize = 2000;
/// Limits how deep new directories are searched.
const MAX_NEW_DEPTH: usize = 16;
/// Limits how many entries are checked after a job, new ones included.
const MAX_CHECKED_ENTRY_COUNT: usize = 20_000;
/// Limits how many names are tried for what is disabled.
const MAX_NAME_COUNT: usize = 100;

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

/// The directories of a workspace before a job, and the repositories among them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DirectorySnapshot {
    workspace: PathBuf,
    /// The checked directories, with the directories in them if they were listed.
    checked: BTreeMap<PathBuf, Option<BTreeSet<OsString>>>,
    /// `.git` entries, and directories that are repositories themselves.
    repositories: BTreeSet<PathBuf>,
}

impl DirectorySnapshot {
    /// Checks the directories of a workspace, the nearest first, within the limits.
    pub(crate) fn take(workspace: &Path) -> Self {
        let mut snapshot = Self { workspace: workspace.to_owned(), ..Self::default() };
        let mut left = MAX_NESTED_ENTRY_COUNT;
        let mut level = vec![workspace.to_owned()];
        for _ in 0..MAX_NESTED_DEPTH {
            let mut next = Vec::new();
            for directory in level {
                snapshot.repositories.extend(find_repositories_at(&directory));
                if directory != workspace && snapshot.repositories.contains(&directory) {
                    continue;
                }
                let Some(names) = list_directories(&directory, &mut left) else { return snapshot };
                next.extend(names.iter().map(|name| directory.join(name)));
                snapshot.checked.insert(directory, Some(names));
            }
            level = next;
        }
        // The directories of the last level are not listed, only checked themselves.
        for directory in level.into_iter().take(left) {
            snapshot.repositories.extend(find_repositories_at(&directory));
            snapshot.checked.insert(directory, None);
        }
        snapshot
    }

    /// Returns the repositories below the workspace; it may be one itself.
    pub(crate) fn nested_repositories(&self) -> impl Iterator<Item = &Path> {
        let all = self.repositories.iter().map(PathBuf::as_path);
        all.filter(|path| *path != self.workspace)
    }

    /// Returns the directory that the snapshot was taken of.
    pub(crate) fn top(&self) -> &Path {
        &self.workspace
    }

    /// Forgets an entry that is no repository yet, so that it counts as new afterwards.
    pub(crate) fn forget(&mut self, path: &Path) {
        self.repositories.remove(path);
    }

    /// Disables the repositories that were made since, within limits, and returns them. With
    /// `keeps_plain`, those that are as plain git makes them stay.
    ///
    /// Directories that were there before and were not checked are left alone, because the
    /// repositories in them may be the user's.
    pub(crate) fn disable_new_repositories(&self, keeps_plain: bool) -> Vec<PlantedRepository> {
        let mut planted = Vec::new();
        let mut left = MAX_CHECKED_ENTRY_COUNT;
        let mut level = vec![self.workspace.clone()];
        for depth in 0..MAX_NEW_DEPTH {
            // One that lies deeper would not be protected from the next job.
            let keeps_plain = keeps_plain && depth <= MAX_NESTED_DEPTH;
            let mut next = Vec::new();
            for directory in level {
                let found = find_repositories_at(&directory);
                let new = found.filter(|path| !self.repositories.contains(path));
                let new = new.filter(|path| !(keeps_plain && is_plain_repository(path)));
                planted.extend(new.filter_map(|path| disable_repository(&path)));
                if self.checked.get(&directory).is_some_and(Option::is_none) {
                    continue;
                }
                let Some(names) = list_directories(&directory, &mut left) else { return planted };
                let below = names.iter().map(|name| directory.join(name));
                next.extend(below.filter(|path| self.was_checked_or_is_new(path)));
            }
            level = next;
        }
        planted
    }

    fn was_checked_or_is_new(&self, directory: &Path) -> bool {
        if self.checked.contains_key(directory) {
            return true;
        }
        let above = directory.parent().and_then(|above| self.checked.get(above));
        match (above, directory.file_name()) {
            (Some(Some(names)), Some(name)) => !names.contains(name),
            // Its parent is new, or it would not be asked about.
            _ => true,
        }
    }
}

/// Returns the `.git` entry of a directory, and the directory itself if it is a repository.
fn find_repositories_at(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let git = directory.join(".git");
    let git = git.symlink_metadata().is_ok().then_some(git);
    let itself = is_git_directory(directory).then(|| directory.to_owned());
    git.into_iter().chain(itself)
}

/// Returns the names of the directories in a directory, except for `.git`. Every entry counts.
/// Returns none if no more entries may be checked.
fn list_directories(directory: &Path, left: &mut usize) -> Option<BTreeSet<OsString>> {
    let mut names = BTreeSet::new();
    // What cannot be read is not listed.
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        *left = left.checked_sub(1)?;
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_directory && entry.file_name() != ".git" {
            names.insert(entry.file_name());
        }
    }
    Some(names)
}

/// Something that a job made and that would make git start programs. It is displayed as a sentence
/// without its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlantedRepository {
    /// The `.git` entry, the directory that is a repository, or the file in a repository.
    pub path: PathBuf,
    /// The name that the file has now without which it is harmless; none if it could not be renamed.
    pub renamed: Option<PathBuf>,
    /// What was made.
    pub kind: PlantedKind,
}

/// What a job made that would make git start programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlantedKind {
    /// A repository.
    Repository,
    /// Steps of a rebase or a cherry-pick that run commands.
    Steps,
    /// A link or a special file in a repository, through which git would write.
    Link,
    /// An index with paths in `.git` or outside of the work tree.
    Index,
    /// A configuration that changed while the job ran. The earlier one is in its place again.
    Config,
}

impl fmt::Display for PlantedRepository {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = self.path.display();
        match self.kind {
            PlantedKind::Repository => write!(
                f,
                "the command made the repository {path}, which decides which programs git starts"
            ),
            PlantedKind::Steps => {
                write!(f, "the command left steps in {path} that make git start programs")
            }
            PlantedKind::Link => {
                write!(f, "the command made {path}, which leads git to write to another file")
            }
            PlantedKind::Config => write!(
                f,
                "while the command ran, {path} got settings that may start programs, and the earlier \
                 ones are in force again"
            ),
            PlantedKind::Index => write!(
                f,
                "the command left the index {path} with paths in .git or outside of the work tree"
            ),
        }?;
        match &self.renamed {
            Some(name) => write!(
                f,
                "; it is disabled, and a person who trusts it can enable it by removing \
                 {DISABLED_SUFFIX} from the name of {}",
                name.display()
            ),
            None => f.write_str("; it could not be disabled: remove it before you use git there"),
        }
    }
}

const DISABLED_SUFFIX: &str = ".untrusted";

/// Renames what makes a path a repository: `HEAD` of a directory, or a `.git` that leads to another
/// place.
/// Returns none if it is no repository.
fn disable_repository(path: &Path) -> Option<PlantedRepository> {
    let is_directory = path.symlink_metadata().ok()?.is_dir();
    let (directory, name) = if is_directory {
        // Without it, git looks further up.
        path.join("HEAD").symlink_metadata().ok().filter(|found| !found.is_dir())?;
        (path, "HEAD")
    } else {
        (path.parent()?, ".git")
    };
    let renamed =
        rename_to_free_name(directory, name.as_ref()).ok().map(|name| directory.join(name));
    Some(PlantedRepository { path: path.to_owned(), renamed, kind: PlantedKind::Repository })
}

/// Renames an entry of a directory, whatever another command puts on the way there.
pub(crate) fn rename_to_free_name(directory: &Path, name: &OsStr) -> io::Result<OsString> {
    let flags = OFlags::PATH | OFlags::CLOEXEC | OFlags::DIRECTORY;
    let directory = openat2(CWD, directory, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)?;
    for number in 0..MAX_NAME_COUNT {
        let number = if number == 0 { String::new() } else { number.to_string() };
        let mut new = name.to_owned();
        new.push(format!("{DISABLED_SUFFIX}{number}"));
        match renameat_with(&directory, name, &directory, &new, RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(new),
            Err(rustix::io::Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
