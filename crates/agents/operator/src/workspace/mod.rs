//! The directory that every path is confined to.
//!
//! It is opened once and held by handle. Paths are resolved beneath that handle by `cap-std`, so a
//! symlink, a `..` or a rename under our feet cannot lead outside. The tools' own rules (what is
//! read, how much is shown) do not belong here.

mod changing;
mod error;
mod kind;
mod location;
mod mounts;
mod reading;
mod writing;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

pub(crate) use changing::{Entry, mode_of};
pub use error::WorkspaceError;
pub(crate) use kind::Kind;
pub(crate) use location::Location;
pub(crate) use reading::{entries, is_git, open_regular};
pub(crate) use writing::WriteTarget;

/// The directory that the operator works in. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Workspace {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    directory: Dir,
    /// Where the directory lies, without symlinks.
    root: PathBuf,
    /// The absolute path it was opened by; people and models may use it too.
    given: PathBuf,
    /// Nothing in it can keep whoever looks waiting for a network.
    at_hand: bool,
}

/// The largest file that is read on the spot.
const BRIEF: u64 = 64 * 1024;

impl Workspace {
    /// Opens a directory as the workspace.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, WorkspaceError> {
        let path = path.as_ref();
        let opening =
            |source| WorkspaceError::Open { path: path.to_owned(), source: Arc::new(source) };
        let given = std::path::absolute(path).map_err(opening)?;
        let root = std::fs::canonicalize(path).map_err(opening)?;
        if root.parent().is_none() {
            return Err(WorkspaceError::WholeFileSystem);
        }
        let directory = Dir::open_ambient_dir(&root, ambient_authority()).map_err(opening)?;
        let at_hand = mounts::is_at_hand(&directory, &root);
        Ok(Self { inner: Arc::new(Inner { directory, root, given, at_hand }) })
    }

    /// Whether looking at this takes no longer than asking somebody else to do it: something small
    /// on a disk or in the memory of this machine.
    pub(crate) fn is_brief(&self, path: &str) -> bool {
        if !self.inner.at_hand {
            return false;
        }
        let metadata = self.locate(path).and_then(|location| self.metadata(&location));
        metadata.is_ok_and(|metadata| !metadata.is_file() || metadata.len() <= BRIEF)
    }

    /// Where it lies, as an absolute path without symlinks.
    pub fn root(&self) -> &Path {
        &self.inner.root
    }

    /// Reads a path as it came from a model. Touches nothing.
    pub(crate) fn locate(&self, path: &str) -> Result<Location, lango_tool::ToolError> {
        Location::new(path, [&self.inner.root, &self.inner.given])
    }

    fn directory(&self) -> &Dir {
        &self.inner.directory
    }
}
