//! Opens what is in the workspace for reading.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use cap_std::fs::{Dir, Metadata, MetadataExt as _, OpenOptions, OpenOptionsExt as _};
use lango_tool::ToolError;
use rustix::fs::OFlags;

use super::{EntryKind, Workspace, WorkspacePath};

impl Workspace {
    /// Returns the metadata of a path, links followed.
    pub(crate) fn read_metadata(&self, location: &WorkspacePath) -> Result<Metadata, ToolError> {
        self.refuse_hidden(location)?;
        self.directory()
            .metadata(location.path())
            .map_err(|error| location.describe_error("look at", &error))
    }

    /// Tells whether something has this name, also if it is a link that leads nowhere.
    pub(crate) fn has_entry(&self, location: &WorkspacePath) -> bool {
        self.directory().symlink_metadata(location.path()).is_ok()
    }

    /// Returns the target of the link if the path itself is one.
    pub(crate) fn read_link(&self, location: &WorkspacePath) -> Option<PathBuf> {
        self.directory().read_link_contents(location.path()).ok()
    }

    /// Returns the path without links and `..`, relative to the workspace.
    pub(crate) fn canonicalize(&self, location: &WorkspacePath) -> Result<PathBuf, ToolError> {
        let path = self
            .directory()
            .canonicalize(location.path())
            .map_err(|error| location.describe_error("resolve", &error))?;
        // The workspace itself is the empty path, so that others start with it.
        Ok(path.strip_prefix(".").map_or_else(|_| path.clone(), Path::to_owned))
    }

    /// Opens a regular file. Anything else is refused without being opened.
    pub(crate) fn open_file(&self, location: &WorkspacePath) -> Result<(File, u64), ToolError> {
        match EntryKind::of_file_type(self.read_metadata(location)?.file_type()) {
            EntryKind::File => {}
            EntryKind::Directory => {
                let shown = location.shown();
                return Err(ToolError::Failed(format!("{shown} is a directory; use fs_list")));
            }
            kind => return Err(not_regular_error(location, kind)),
        }
        let file = open_regular(self.directory(), location.path())
            .map_err(|error| location.describe_error("open", &error))?;
        // The opened file may not be the one that was checked.
        let (file, length) = file.ok_or_else(|| not_regular_error(location, EntryKind::Other))?;
        self.refuse_hidden_handle(location, &file)?;
        Ok((file, length))
    }

    /// Opens a directory.
    pub(crate) fn open_directory(&self, location: &WorkspacePath) -> Result<Dir, ToolError> {
        if !self.read_metadata(location)?.is_dir() {
            let shown = location.shown();
            return Err(ToolError::Failed(format!("{shown} is not a directory; use fs_read")));
        }
        let directory = self
            .directory()
            .open_dir(location.path())
            .map_err(|error| location.describe_error("open", &error))?;
        self.refuse_hidden_handle(location, &directory)?;
        Ok(directory)
    }

    /// Opens a directory that a walk reached. It is confined like any other.
    pub(crate) fn open_walked(&self, path: &Path) -> io::Result<Dir> {
        self.refuse_hidden_walk(path)?;
        self.directory().open_dir(path)
    }

    /// Returns the absolute path of a directory, for a process that is to start in it.
    ///
    /// A process takes a path, not a handle, so the path is checked to still lead to the directory
    /// that the handle holds.
    pub(crate) fn absolute_directory(
        &self,
        location: &WorkspacePath,
    ) -> Result<PathBuf, ToolError> {
        let handle = self
            .open_directory(location)?
            .dir_metadata()
            .map_err(|error| location.describe_error("look at", &error))?;
        let path = match self.canonicalize(location)? {
            // A join with the empty path would end in a slash.
            here if here.as_os_str().is_empty() => self.root().to_owned(),
            below => self.root().join(below),
        };
        match std::fs::metadata(&path) {
            Ok(found) if (found.dev(), found.ino()) == (handle.dev(), handle.ino()) => Ok(path),
            _ => Err(ToolError::Failed(format!(
                "{} was moved while in use; call again",
                location.shown()
            ))),
        }
    }
}

/// Opens `path` beneath `directory` if it is a regular file, without ever blocking.
pub(crate) fn open_regular(directory: &Dir, path: &Path) -> io::Result<Option<(File, u64)>> {
    let mut options = OpenOptions::new();
    // Without NONBLOCK a FIFO that took the file's place would wait for a writer.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    options.read(true).custom_flags(flags.bits().cast_signed());
    let file = directory.open_with(path, &options)?.into_std();
    let metadata = file.metadata()?;
    Ok(metadata.is_file().then_some((file, metadata.len())))
}

/// Returns the names in a directory with their kinds, links not followed, sorted by name.
pub(crate) fn read_entries(directory: &Dir) -> io::Result<Vec<(OsString, EntryKind)>> {
    let mut entries = Vec::new();
    for entry in directory.entries()? {
        let entry = entry?;
        // An entry that was removed in between is skipped.
        if let Ok(file_type) = entry.file_type() {
            entries.push((entry.file_name(), EntryKind::of_file_type(file_type)));
        }
    }
    entries.sort_unstable_by(|one, other| one.0.cmp(&other.0));
    Ok(entries)
}

/// Tells whether a name is that of git's own directory, also on file systems that ignore case.
pub(crate) fn is_git(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case(".git")
}

fn not_regular_error(location: &WorkspacePath, kind: EntryKind) -> ToolError {
    ToolError::Failed(format!(
        "{} is a {kind}, which is never opened; only regular files can be read or written",
        location.shown()
    ))
}
