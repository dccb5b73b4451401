//! Checks a path from a model by its text alone.
//!
//! What the text cannot show, such as symlinks and `..`, is decided beneath the workspace's handle
//! when the path is used.

use std::io;
use std::path::{Path, PathBuf};

use lango_text::make_visible_short;
use lango_tool::ToolError;

/// Repeats the system's own limit, which is checked first so that the message says which one was
/// broken.
const MAX_PATH_BYTES: usize = 4095;
const MAX_NAME_BYTES: usize = 255;

/// Holds a path relative to the workspace, and its form for messages.
#[derive(Debug, Clone)]
pub(crate) struct WorkspacePath {
    path: PathBuf,
    shown: String,
}

impl WorkspacePath {
    /// Checks the text of `path`. An absolute path inside one of `roots` is made relative.
    pub(crate) fn new(path: &str, roots: [&PathBuf; 2]) -> Result<Self, ToolError> {
        let shown = make_visible_short(path);
        let forbid = |why: &str| Err(ToolError::Forbidden(format!("{shown:?} {why}")));
        if path.is_empty() {
            return Err(ToolError::Failed(
                "the path is empty; \".\" is the workspace itself".to_owned(),
            ));
        }
        if path.contains('\0') {
            return forbid("contains a NUL byte; remove it");
        }
        if path.len() > MAX_PATH_BYTES || path.split('/').any(|name| name.len() > MAX_NAME_BYTES) {
            return forbid("is too long for a path; use a shorter one");
        }
        if path.starts_with('~') {
            return forbid("starts with ~, which is not expanded; use a path inside the workspace");
        }
        if path.contains("://") || path.starts_with("\\\\") {
            return forbid("is an address, not a path; use a path inside the workspace");
        }
        let relative = if Path::new(path).is_absolute() {
            match roots.into_iter().find_map(|root| Path::new(path).strip_prefix(root).ok()) {
                Some(relative) => relative,
                None => return forbid(&outside_message(roots[0])),
            }
        } else {
            Path::new(path)
        };
        let relative = relative.strip_prefix(".").unwrap_or(relative);
        let path = if relative.as_os_str().is_empty() { Path::new(".") } else { relative };
        Ok(Self { path: path.to_owned(), shown })
    }

    /// Creates the location of a path that was found in the workspace before, relative to it.
    pub(crate) fn from_workspace_path(path: &Path) -> Self {
        Self { path: path.to_owned(), shown: make_visible_short(&path.to_string_lossy()) }
    }

    /// Returns the path, relative to the workspace. It may contain `..` and links.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the path as a tool takes it.
    pub(crate) fn to_argument(&self) -> String {
        self.path.to_string_lossy().into_owned()
    }

    /// Returns the path for messages: as it was given, made visible, cut if it is very long.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    /// Builds the error for a failed operation on this path.
    pub(crate) fn describe_error(&self, action: &str, error: &io::Error) -> ToolError {
        let shown = &self.shown;
        // cap-std's refusal is a permission error that no system call made.
        if error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none() {
            return ToolError::Forbidden(format!(
                "{shown} leads outside the workspace; use a path inside it"
            ));
        }
        ToolError::Failed(match error.kind() {
            io::ErrorKind::NotFound => {
                format!("{shown} does not exist; fs_list shows what does")
            }
            io::ErrorKind::NotADirectory => {
                format!("{shown}: a part of the path is not a directory; fs_list shows what is")
            }
            io::ErrorKind::PermissionDenied => {
                format!(
                    "cannot {action} {shown}: the system denies access; check its mode with fs_stat"
                )
            }
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                format!("cannot {action} {shown}: the disk is full; free some space first")
            }
            _ => format!("cannot {action} {shown}: {error}"),
        })
    }
}

fn outside_message(root: &Path) -> String {
    format!("lies outside the workspace {}; use a path inside it", root.display())
}
