//! Defines what the embedded model may know about the machine: the names that a request can mean.

use std::fmt;

/// Tells which files exist, so that names in a request are looked up where they must be.
pub trait Surroundings: fmt::Debug + Send + Sync {
    /// Returns the files and directories that agents may see, sorted by path.
    fn list_files(&self) -> Vec<FileEntry>;

    /// Returns the text of a file that agents may read; none where it is large, binary or hidden.
    fn read_text(&self, path: &str) -> Option<String>;
}

/// Describes a file or directory of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEntry {
    /// The path in the workspace, with `/` between its parts.
    pub path: String,
    /// True for a directory.
    pub is_directory: bool,
}

/// Knows no names: every name in a request is taken as it was typed.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSurroundings;

impl Surroundings for NoSurroundings {
    fn list_files(&self) -> Vec<FileEntry> {
        Vec::new()
    }

    fn read_text(&self, _: &str) -> Option<String> {
        None
    }
}
