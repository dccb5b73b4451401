//! Opens files of the workspace, and no others.

use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, File, OpenOptions, OpenOptionsExt as _};
use lango_places::Places;
use lango_text::make_visible;
use lango_tool::ToolError;

/// The files of the workspace. Paths are resolved beneath its handle, so that no link leads outside.
#[derive(Clone)]
pub(crate) struct WorkspaceFiles {
    directory: Arc<Dir>,
    root: PathBuf,
    places: Places,
}

impl WorkspaceFiles {
    pub(crate) fn open(root: &Path, places: Places) -> io::Result<Self> {
        let root = root.canonicalize()?;
        let directory = Arc::new(Dir::open_ambient_dir(&root, ambient_authority())?);
        Ok(Self { directory, root, places })
    }

    /// Opens a file for reading, and returns its path in the workspace.
    pub(crate) fn read(&self, given: &str) -> Result<(File, String), ToolError> {
        let path = self.relative(given)?;
        let shown = path.display().to_string();
        // Where links lead is what is hidden or not.
        let real = self.directory.canonicalize(&path).map_err(|error| failed(&shown, &error))?;
        if self.places.hidden_reason(&self.root.join(&real)).is_some() {
            return Err(ToolError::Forbidden(format!(
                "{} is hidden from agents",
                make_visible(&shown)
            )));
        }
        let metadata = self.directory.metadata(&real).map_err(|error| failed(&shown, &error))?;
        if !metadata.is_file() {
            return Err(ToolError::Failed(format!("{} is not a file", make_visible(&shown))));
        }
        let file = self.directory.open(&real).map_err(|error| failed(&shown, &error))?;
        Ok((file, shown))
    }

    /// Creates a file that does not exist, readable by its owner only.
    pub(crate) fn create(&self, given: &str) -> Result<File, ToolError> {
        let path = self.relative(given)?;
        let absolute = self.root.join(&path);
        let is_forbidden = self.places.hidden_reason(&absolute).is_some()
            || self.places.protection_of(&absolute).is_some();
        if is_forbidden {
            let reason = format!("{} decides what other programs do", make_visible(given));
            return Err(ToolError::Forbidden(reason));
        }
        let mut options = OpenOptions::new();
        options.write(true).create_new(true).mode(0o600);
        self.directory.open_with(&path, &options).map_err(|error| failed(given, &error))
    }

    /// Removes a file that was only partly written.
    pub(crate) fn discard(&self, given: &str) {
        if let Ok(path) = self.relative(given) {
            // What stays behind cannot be decrypted, and is named in the error.
            let _ = self.directory.remove_file(path);
        }
    }

    fn relative(&self, given: &str) -> Result<PathBuf, ToolError> {
        let outside = || {
            let given = make_visible(given);
            ToolError::Forbidden(format!("{given} is not in the workspace"))
        };
        let path = Path::new(given);
        let path = if path.is_absolute() {
            path.strip_prefix(&self.root).map_err(|_| outside())?
        } else {
            path
        };
        let is_inside =
            path.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        let path: PathBuf =
            path.components().filter(|part| matches!(part, Component::Normal(_))).collect();
        if !is_inside || path.as_os_str().is_empty() || given.contains('\0') {
            return Err(outside());
        }
        Ok(path)
    }
}

fn failed(path: &str, error: &io::Error) -> ToolError {
    let path = make_visible(path);
    let reason = match error.kind() {
        io::ErrorKind::NotFound => format!("there is no file {path}"),
        io::ErrorKind::AlreadyExists => format!("{path} exists already; move it away first"),
        _ => format!("{path}: {error}"),
    };
    ToolError::Failed(reason)
}
