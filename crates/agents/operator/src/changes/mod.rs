//! Records what the file tools change, so that it can be undone.
//!
//! A change is recorded together with the previous content before it is made. Undoing checks first:
//! what another process changed since is left alone. Changes made by commands are not recorded
//! here.

mod columns;
mod log;
mod restore;

use std::path::{Path, PathBuf};

pub(crate) use log::COMPONENT;
pub use log::ChangedTurn;
pub use restore::{RestoreResult, RestoreState};

/// Describes a change that is about to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FileChange {
    /// The path without links, relative to the workspace.
    pub(crate) path: PathBuf,
    pub(crate) kind: ChangeKind,
}

impl FileChange {
    /// Describes the creation of a directory.
    pub(crate) fn make_directory(path: &Path) -> Self {
        Self { path: path.to_owned(), kind: ChangeKind::MakeDirectory }
    }
}

/// Tells how an entry changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    /// A file gets new content.
    Write {
        /// The previous content; none if the file is new.
        before: Option<PreviousFile>,
        /// SHA-256 of the new content.
        after: String,
    },
    /// A file is deleted.
    DeleteFile(PreviousFile),
    /// A link is deleted.
    DeleteLink {
        /// The target of the link.
        target: PathBuf,
    },
    /// An empty directory is deleted.
    DeleteDirectory {
        /// Its permissions.
        mode: u32,
    },
    /// A directory is created.
    MakeDirectory,
    /// A link is created.
    MakeLink {
        /// The target of the link.
        target: PathBuf,
    },
    /// A file or directory is renamed.
    Move {
        /// The new path, relative to the workspace.
        to: PathBuf,
    },
}

/// Holds a file as it was before the change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PreviousFile {
    /// The content; none if it was too large to be recorded.
    pub(crate) content: Option<Vec<u8>>,
    /// Its permissions.
    pub(crate) mode: u32,
}
