//! Confines every path to one directory.
//!
//! The directory is opened once and held by handle. Paths are resolved beneath that handle by
//! `cap-std`, so a symlink, a `..` or a concurrent rename cannot lead outside. The tools' own rules
//! (what is read, how much is shown) do not belong here.

mod changing;
mod error;
mod kind;
mod location;
mod mounts;
mod names;
mod proposing;
mod reading;
mod visibility;
mod writing;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use lango_places::Places;

pub(crate) use changing::{DirectoryEntry, permission_bits};
pub use error::WorkspaceError;
pub(crate) use kind::EntryKind;
pub(crate) use location::WorkspacePath;
pub use names::WorkspaceName;
pub(crate) use proposing::PathUse;
pub(crate) use reading::{is_git, open_regular, read_entries};
pub(crate) use writing::WriteTarget;

/// Holds the directory that the operator works in. It is cheap to clone.
#[derive(Debug, Clone)]
pub struct Workspace {
    inner: Arc<WorkspaceRoot>,
}

#[derive(Debug)]
struct WorkspaceRoot {
    directory: Dir,
    /// The path of the directory, without symlinks.
    root: PathBuf,
    /// The absolute path it was opened by; users and models may use it too.
    given: PathBuf,
    /// True if no access to it can block on a network.
    is_local: bool,
    /// The places that are never read, and those that decide what other programs do.
    places: Places,
    /// True if some hidden place is in the workspace, or the workspace is in one.
    has_hidden: bool,
}

/// Limits the size of the files that are read on the current thread.
const MAX_QUICK_READ_BYTES: u64 = 64 * 1024;

impl Workspace {
    /// Opens a directory as the workspace, in which no place is hidden or protected.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, WorkspaceError> {
        Self::open_with_places(path, Places::default())
    }

    /// Opens a directory as the workspace.
    pub fn open_with_places(
        path: impl AsRef<Path>,
        places: Places,
    ) -> Result<Self, WorkspaceError> {
        let path = path.as_ref();
        let opening =
            |source| WorkspaceError::Open { path: path.to_owned(), source: Arc::new(source) };
        let given = std::path::absolute(path).map_err(opening)?;
        let root = std::fs::canonicalize(path).map_err(opening)?;
        if root.parent().is_none() {
            return Err(WorkspaceError::WholeFileSystem);
        }
        let directory = Dir::open_ambient_dir(&root, ambient_authority()).map_err(opening)?;
        let is_local = mounts::is_local(&directory, &root);
        let has_hidden = places.hidden_reason(&root).is_some()
            || places.hidden_paths().any(|hidden| hidden.starts_with(&root));
        let root = WorkspaceRoot { directory, root, given, is_local, places, has_hidden };
        Ok(Self { inner: Arc::new(root) })
    }

    /// Tells whether reading this takes no longer than handing it to another thread: a small file
    /// on a disk or in the memory of this machine.
    pub(crate) fn is_quick_to_read(&self, path: &str) -> bool {
        if !self.inner.is_local {
            return false;
        }
        let metadata = self.check_path(path).and_then(|location| self.read_metadata(&location));
        metadata.is_ok_and(|metadata| !metadata.is_file() || metadata.len() <= MAX_QUICK_READ_BYTES)
    }

    /// Returns the absolute path of the directory, without symlinks.
    pub fn root(&self) -> &Path {
        &self.inner.root
    }

    /// Checks a path that came from a model. It does not access the file system.
    pub(crate) fn check_path(&self, path: &str) -> Result<WorkspacePath, lango_tool::ToolError> {
        WorkspacePath::new(path, [&self.inner.root, &self.inner.given])
    }

    /// Returns a path from a model relative to the workspace, if it lies in there, and otherwise as
    /// it is.
    pub(crate) fn relative_path(&self, path: &str) -> String {
        self.check_path(path).map_or_else(|_| path.to_owned(), |location| location.to_argument())
    }

    fn directory(&self) -> &Dir {
        &self.inner.directory
    }
}
