//! What the file tools changed, so that it can be taken back.
//!
//! A change is recorded, with what was there before, before it is made. Undoing looks first: what
//! somebody changed since is left alone. Changes made by commands are not known here.

mod log;
mod restore;

use std::path::{Path, PathBuf};

pub(crate) use log::COMPONENT;
pub use log::ChangedTurn;
pub use restore::{Restored, RestoredState};

/// Something that is about to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// Without links, relative to the workspace.
    pub(crate) path: PathBuf,
    pub(crate) kind: ChangeKind,
}

impl Change {
    /// A directory that comes.
    pub(crate) fn made(path: &Path) -> Self {
        Self { path: path.to_owned(), kind: ChangeKind::MakeDirectory }
    }
}

/// How it changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ChangeKind {
    /// A file gets new content.
    Write {
        /// What was there; none where the file is new.
        before: Option<Before>,
        /// SHA-256 of the new content.
        after: String,
    },
    /// A file goes.
    DeleteFile(Before),
    /// A link goes.
    DeleteLink {
        /// What is written in it.
        target: PathBuf,
    },
    /// An empty directory goes.
    DeleteDirectory {
        /// Its permissions.
        mode: u32,
    },
    /// A directory comes.
    MakeDirectory,
    /// A file or directory gets another name.
    Move {
        /// The new one, relative to the workspace.
        to: PathBuf,
    },
}

/// A file as it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Before {
    /// None where it was too large to be kept.
    pub(crate) content: Option<Vec<u8>>,
    /// Its permissions.
    pub(crate) mode: u32,
}
