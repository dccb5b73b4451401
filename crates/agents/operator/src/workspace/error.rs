//! Defines why a workspace could not be opened.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

/// Describes a workspace that cannot be used. The user who started the program can act on each of
/// these.
#[derive(Debug, Clone, thiserror::Error)]
pub enum WorkspaceError {
    /// The directory is missing, not a directory, or not readable.
    #[error("cannot open the workspace {}: {source}; name a directory that you can read", path.display())]
    Open {
        /// The requested directory.
        path: PathBuf,
        /// The error of the system.
        source: Arc<io::Error>,
    },
    /// The root of the file system confines nothing.
    #[error("the workspace cannot be /: it would confine nothing; name a directory")]
    WholeFileSystem,
}
