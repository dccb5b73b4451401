//! The files of a directory, in order, one at a time.
//!
//! Hidden files and what `.gitignore` names are left out, and counted. Links are not followed, so a
//! loop of them is nothing special and nothing outside of the directory is reached: what a link
//! within it leads to is found where it lies.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;

use super::read::Unreadable;

/// What is found on the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A file.
    File {
        /// Where.
        path: PathBuf,
        /// Its size.
        bytes: u64,
    },
    /// Something that is not read.
    Skipped {
        /// Where.
        path: PathBuf,
        /// Why.
        reason: Unreadable,
        /// Whether more may lie below it, which is therefore not known.
        hides_more: bool,
    },
    /// A directory was entered in which so many entries are hidden or ignored.
    LeftOut {
        /// How many.
        entries: u64,
    },
}

/// Walks through a directory, or to a single file. Directories are read when they are reached.
pub fn walk(root: &Path) -> impl Iterator<Item = Step> + use<> {
    let mut builder = WalkBuilder::new(root);
    // Ignore files count wherever they are, in a repository or not.
    builder.require_git(false).follow_links(false).sort_by_file_name(Ord::cmp);
    let mut counted: Vec<Counted> = Vec::new();
    let mut entries = builder.build();
    let mut waiting: Vec<Step> = Vec::new();
    std::iter::from_fn(move || {
        loop {
            if let Some(step) = waiting.pop() {
                return Some(step);
            }
            let Some(entry) = entries.next() else {
                // All directories are done; those that were left open are counted one by one.
                let done = counted.pop()?;
                waiting.extend(done.left_out());
                continue;
            };
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    waiting.push(unreadable(&error));
                    continue;
                }
            };
            while counted.last().is_some_and(|open| open.depth >= entry.depth()) {
                waiting.extend(counted.pop().and_then(Counted::left_out));
            }
            if let Some(parent) = counted.last_mut() {
                parent.seen += 1;
            }
            let kind = entry.file_type();
            if kind.is_some_and(|kind| kind.is_dir()) {
                counted.push(Counted::new(entry.path(), entry.depth()));
                continue;
            }
            waiting.insert(0, step(entry));
        }
    })
}

fn step(entry: ignore::DirEntry) -> Step {
    let is_link = entry.path_is_symlink();
    let bytes = entry.metadata().map_or(0, |metadata| metadata.len());
    let is_file = entry.file_type().is_some_and(|kind| kind.is_file());
    let path = entry.into_path();
    if is_file && !is_link {
        return Step::File { path, bytes };
    }
    let what = if is_link { "a link, which is not followed" } else { "a pipe, socket or device" };
    Step::Skipped {
        path,
        reason: Unreadable::NotAFile { what: what.to_owned() },
        hides_more: false,
    }
}

fn unreadable(error: &ignore::Error) -> Step {
    let mut path = PathBuf::new();
    let mut inner = error;
    // The path stands somewhere in a chain of circumstances.
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
        Some(std::io::ErrorKind::PermissionDenied) => Unreadable::Permission,
        _ => Unreadable::Failed { detail: inner.to_string() },
    };
    Step::Skipped { path, reason, hides_more: true }
}

/// A directory under way: how much is in it, and how much of that was given out.
struct Counted {
    depth: usize,
    all: u64,
    seen: u64,
}

impl Counted {
    fn new(path: &Path, depth: usize) -> Self {
        // One that cannot be listed is reported by the walk itself.
        let all = std::fs::read_dir(path).map_or(0, |entries| entries.count() as u64);
        Self { depth, all, seen: 0 }
    }

    fn left_out(self) -> Option<Step> {
        let entries = self.all.saturating_sub(self.seen);
        (entries > 0).then_some(Step::LeftOut { entries })
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
        walk(root)
            .map(|step| match step {
                Step::File { path, .. } => name(&path),
                Step::Skipped { path, .. } => format!("- {}", name(&path)),
                Step::LeftOut { entries } => format!("({entries})"),
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
        let found: Vec<Step> = walk(&file).collect();
        assert_eq!(found, [Step::File { path: file, bytes: 4 }]);
    }

    #[test]
    fn a_directory_that_cannot_be_read_is_said() {
        let directory = tree(&["closed/one.md", "open.md"]);
        let closed = directory.path().join("closed");
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
        let found: Vec<Step> = walk(directory.path()).collect();
        let readable_by_all = fs::read_dir(&closed).is_ok();
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
        // The superuser reads everything.
        let skipped =
            Step::Skipped { path: closed, reason: Unreadable::Permission, hides_more: true };
        assert!(readable_by_all || found.contains(&skipped), "{found:?}");
        assert_eq!(found.len(), 2);
    }
}
