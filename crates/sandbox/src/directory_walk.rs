//! Lists the directories below a directory, the nearest first, within a limit of entries.

use std::collections::VecDeque;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A walk over a directory and all below it. It follows no links and does not enter `.git`.
#[derive(Debug)]
pub(crate) struct DirectoryWalk {
    /// The number of entries that may still be listed.
    left: usize,
    /// The directories to list, with their depth.
    waiting: VecDeque<(PathBuf, usize)>,
}

/// A directory on the walk.
#[derive(Debug)]
pub(crate) struct WalkedDirectory {
    pub(crate) path: PathBuf,
    /// The number of directories above it on the walk.
    pub(crate) depth: usize,
    pub(crate) listing: Result<DirectoryListing, ListingError>,
}

/// What a directory contains.
#[derive(Debug, Default)]
pub(crate) struct DirectoryListing {
    directories: Vec<PathBuf>,
    /// True if it has an entry with the name `.git`.
    pub(crate) has_git: bool,
    /// True if it has an entry with the name `HEAD`.
    pub(crate) has_head: bool,
}

/// Why the entries of a directory are not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ListingError {
    /// No more entries may be listed.
    Limit,
    Unreadable,
    /// It does not exist any more.
    Gone,
}

impl DirectoryWalk {
    pub(crate) fn new(top: &Path, limit: usize) -> Self {
        Self { left: limit, waiting: VecDeque::from([(top.to_owned(), 0)]) }
    }

    /// Lists the next directory. Those in it are listed later if [`DirectoryWalk::enter`] is called.
    pub(crate) fn next_directory(&mut self) -> Option<WalkedDirectory> {
        let (path, depth) = self.waiting.pop_front()?;
        let listing = self.list(&path);
        Some(WalkedDirectory { path, depth, listing })
    }

    /// Goes on below a directory.
    pub(crate) fn enter(&mut self, listing: DirectoryListing, depth: usize) {
        self.waiting.extend(listing.directories.into_iter().map(|path| (path, depth + 1)));
    }

    fn list(&mut self, directory: &Path) -> Result<DirectoryListing, ListingError> {
        let mut listing = DirectoryListing::default();
        for entry in fs::read_dir(directory).map_err(|error| ListingError::from(&error))? {
            let entry = entry.map_err(|error| ListingError::from(&error))?;
            self.left = self.left.checked_sub(1).ok_or(ListingError::Limit)?;
            let name = entry.file_name();
            listing.has_head |= name == "HEAD";
            if name == ".git" {
                listing.has_git = true;
            } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                listing.directories.push(entry.path());
            }
        }
        Ok(listing)
    }
}

impl From<&io::Error> for ListingError {
    fn from(error: &io::Error) -> Self {
        match error.kind() {
            // One that another program has just replaced by a file is gone, too.
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Gone,
            _ => Self::Unreadable,
        }
    }
}
