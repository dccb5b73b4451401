//! Walks through the files of a directory, in order, one at a time.
//!
//! Hidden files and those that `.gitignore` names are left out, and counted. Links are not
//! followed, so loops are harmless and nothing outside of the directory is reached; the target of a
//! link within it is found at its own path.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use super::read::UnreadableReason;

/// Is one step of a walk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WalkStep {
    /// A file.
    File {
        /// The path.
        path: PathBuf,
        /// The size.
        bytes: u64,
    },
    /// An entry that is not read.
    Skipped {
        /// The path.
        path: PathBuf,
        /// The reason.
        reason: UnreadableReason,
        /// True if unknown entries may be below it.
        hides_more: bool,
    },
    /// The entries of a directory that are hidden or ignored.
    LeftOut {
        /// The number of entries.
        entries: u64,
    },
}

/// Walks through a directory, or to a single file. Directories are read when they are reached.
pub fn walk_files(root: &Path) -> impl Iterator<Item = WalkStep> + use<> {
    let mut builder = WalkBuilder::new(root);
    // Ignore files apply everywhere, in a repository or not.
    builder.require_git(false).follow_links(false).sort_by_file_name(Ord::cmp);
    let mut open_directories: Vec<OpenDirectory> = Vec::new();
    let mut entries = builder.build();
    let mut waiting: Vec<WalkStep> = Vec::new();
    std::iter::from_fn(move || {
        loop {
            if let Some(step) = waiting.pop() {
                return Some(step);
            }
            let Some(entry) = entries.next() else {
                // The walk is done; the directories that are still open are counted one by one.
                let done = open_directories.pop()?;
                waiting.extend(done.left_out());
                continue;
            };
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    waiting.push(unreadable_step(&error));
                    continue;
                }
            };
            while open_directories.last().is_some_and(|open| open.depth >= entry.depth()) {
                waiting.extend(open_directories.pop().and_then(OpenDirectory::left_out));
            }
            if let Some(parent) = open_directories.last_mut() {
                parent.seen += 1;
            }
            let kind = entry.file_type();
            if kind.is_some_and(|kind| kind.is_dir()) {
                open_directories.push(OpenDirectory::new(entry.path(), entry.depth()));
                continue;
            }
            waiting.insert(0, convert_entry(entry));
        }
    })
}

fn convert_entry(entry: ignore::DirEntry) -> WalkStep {
    let is_link = entry.path_is_symlink();
    let bytes = entry.metadata().map_or(0, |metadata| metadata.len());
    let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
    let path = entry.into_path();
    if is_file && !is_link {
        return WalkStep::File { path, bytes };
    }
    let what = if is_link { "a link, which is not followed" } else { "a pipe, socket or device" };
    WalkStep::Skipped {
        path,
        reason: UnreadableReason::NotAFile { what: what.to_owned() },
        hides_more: false,
    }
}

fn unreadable_step(error: &ignore::Error) -> WalkStep {
    let mut path = PathBuf::new();
    let mut inner = error;
    // The path is somewhere in the chain of errors.
    loop {
        inner = match inner {
            ignore::Error::WithPath { path: at, err } => {
                path.clone_from(at);
                err
            }
            ignore::Error::WithLineNumber { err, .. } | ignore::Error::WithDepth { err, .. } => err,
            _ => break,
        };
    }
    let reason = match error.io_error().map(std::io::Error::kind) {
        Some(std::io::ErrorKind::PermissionDenied) => UnreadableReason::Permission,
        _ => UnreadableReason::Failed { detail: inner.to_string() },
    };
    WalkStep::Skipped { path, reason, hides_more: true }
}

/// A directory whose walk is in progress: its number of entries, and how many of them were
/// returned.
struct OpenDirectory {
    depth: usize,
    all: u64,
    seen: u64,
}

impl OpenDirectory {
    fn new(path: &Path, depth: usize) -> Self {
        // A directory that cannot be listed is reported by the walk itself.
        let all = std::fs::read_dir(path).map_or(0, |entries| entries.count() as u64);
        Self { depth, all, seen: 0 }
    }

    fn left_out(self) -> Option<WalkStep> {
        let entries = self.all.saturating_sub(self.seen);
        (entries > 0).then_some(WalkStep::LeftOut { entries })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for file in files {
            let path = directory.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "text").unwrap();
        }
        directory
    }

    fn names(root: &Path) -> Vec<String> {
        let name = |path: &Path| path.strip_prefix(root).unwrap().display().to_string();
        walk_files(root)
            .map(|step| match step {
                WalkStep::File { path, .. } => name(&path),
                WalkStep::Skipped { path, .. } => format!("- {}", name(&path)),
                WalkStep::LeftOut { entries } => format!("({entries})"),
            })
            .collect()
    }

    #[test]
    fn files_come_in_order_without_what_is_hidden_or_ignored() {
        let directory =
            tree(&["b.md", "a/2.md", "a/1.md", ".git/config", "target/x", "a/keep.log", "z.log"]);
        fs::write(directory.path().join(".gitignore"), "target/\n*.log\n!keep.log\n").unwrap();
        let found = names(directory.path());
        // .git, .gitignore, target and z.log.
        assert_eq!(found, ["a/1.md", "a/2.md", "a/keep.log", "b.md", "(4)"]);
    }

    #[test]
    fn loops_and_ways_out_are_not_followed() {
        let outside = tree(&["secret.md"]);
        let directory = tree(&["a/one.md"]);
        symlink(directory.path(), directory.path().join("a/loop")).unwrap();
        symlink("..", directory.path().join("a/up")).unwrap();
        symlink(outside.path(), directory.path().join("out")).unwrap();
        symlink(outside.path().join("secret.md"), directory.path().join("file.md")).unwrap();
        symlink("itself", directory.path().join("itself")).unwrap();
        assert_eq!(
            names(directory.path()),
            ["- a/loop", "a/one.md", "- a/up", "- file.md", "- itself", "- out"]
        );
    }

    #[test]
    fn a_single_file_is_found_even_if_it_is_hidden_or_ignored() {
        let directory = tree(&[".notes.md"]);
        fs::write(directory.path().join(".gitignore"), "*.md\n").unwrap();
        let file = directory.path().join(".notes.md");
        let found: Vec<WalkStep> = walk_files(&file).collect();
        assert_eq!(found, [WalkStep::File { path: file, bytes: 4 }]);
    }

    #[test]
    fn a_directory_that_cannot_be_read_is_said() {
        let directory = tree(&["closed/one.md", "open.md"]);
        let closed = directory.path().join("closed");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
        let found: Vec<WalkStep> = walk_files(directory.path()).collect();
        let readable_by_all = fs::read_dir(&closed).is_ok();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
        // The superuser reads everything.
        let skipped = WalkStep::Skipped {
            path: closed,
            reason: UnreadableReason::Permission,
            hides_more: true,
        };
        assert!(readable_by_all || found.contains(&skipped), "{found:?}");
        assert_eq!(found.len(), 2);
    }
}
