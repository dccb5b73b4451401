//! Creates, moves and removes entries, by name beneath a handle.
//!
//! The directory of an entry is reached with links resolved; the entry itself is never followed, so
//! a link is moved or removed and not its target.

use std::ffi::OsString;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::fs::{Dir, Metadata, PermissionsExt as _};
use lango_tool::ToolError;
use rustix::fs::{AtFlags, Mode, RenameFlags};
use sha2::{Digest as _, Sha256};

use super::visibility::hidden_error;
use super::writing::open_child;
use super::{Workspace, WorkspacePath, is_git, open_regular};

/// Names an entry of a directory, which may not exist.
#[derive(Debug)]
pub(crate) struct DirectoryEntry {
    /// Shared with its siblings: a large directory must not cost a descriptor for each entry.
    directory: Arc<Dir>,
    name: OsString,
    /// The path without links, relative to the workspace.
    pub(crate) path: PathBuf,
}

impl DirectoryEntry {
    /// Returns the metadata of the entry itself, not of a link's target; none if it does not exist.
    pub(crate) fn read_metadata(&self) -> io::Result<Option<Metadata>> {
        match self.directory.symlink_metadata(&self.name) {
            Ok(metadata) => Ok(Some(metadata)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the content of a regular file, unless it is larger than `max_bytes`.
    pub(crate) fn read_content(&self, max_bytes: u64) -> io::Result<Option<Vec<u8>>> {
        let Some((file, length)) = open_regular(&self.directory, Path::new(&self.name))? else {
            return Err(io::Error::other("it is not a regular file"));
        };
        if length > max_bytes {
            return Ok(None);
        }
        let mut content = Vec::new();
        file.take(max_bytes + 1).read_to_end(&mut content)?;
        Ok((content.len() as u64 <= max_bytes).then_some(content))
    }

    /// Returns the SHA-256 of a regular file as it is now; none if it does not exist.
    pub(crate) fn compute_digest(&self) -> io::Result<Option<String>> {
        if self.read_metadata()?.is_none() {
            return Ok(None);
        }
        let Some((mut file, _)) = open_regular(&self.directory, Path::new(&self.name))? else {
            return Err(io::Error::other("something else is there now"));
        };
        let mut hasher = Sha256::new();
        let mut buffer = [0; 16 * 1024];
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(Some(lango_text::hex(hasher.finalize()))),
                read => hasher.update(&buffer[..read]),
            }
        }
    }

    /// Returns the target of a link.
    pub(crate) fn read_link(&self) -> io::Result<PathBuf> {
        self.directory.read_link_contents(&self.name)
    }

    /// Removes a file or a link.
    pub(crate) fn remove_file(&self) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.directory, &self.name, AtFlags::empty())?)
    }

    /// Removes an empty directory.
    pub(crate) fn remove_directory(&self) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.directory, &self.name, AtFlags::REMOVEDIR)?)
    }

    /// Creates a directory; its parent must exist.
    pub(crate) fn make_directory(&self, mode: u32) -> io::Result<()> {
        let mode = Mode::from_raw_mode(mode & 0o777);
        Ok(rustix::fs::mkdirat(&self.directory, &self.name, mode)?)
    }

    /// Renames an entry; the new name must be free.
    pub(crate) fn rename_to(&self, to: &Self) -> io::Result<()> {
        let flags = RenameFlags::NOREPLACE;
        Ok(rustix::fs::renameat_with(&self.directory, &self.name, &to.directory, &to.name, flags)?)
    }

    /// Renames a file, also if the new name is that of another file, which it replaces in one step.
    pub(crate) fn replace_by_rename(&self, to: &Self) -> io::Result<()> {
        let (directory, name) = (&to.directory, &to.name);
        Ok(rustix::fs::renameat(&self.directory, &self.name, directory, name)?)
    }

    /// Creates a link. It is not followed, so its target may be anywhere: every use of it is
    /// confined.
    pub(crate) fn make_link(&self, target: &Path) -> io::Result<()> {
        Ok(rustix::fs::symlinkat(target, &self.directory, &self.name)?)
    }

    /// Returns the entries of a directory.
    pub(crate) fn list_children(&self) -> io::Result<Vec<Self>> {
        let directory = Arc::new(open_child(&self.directory, &self.name)?);
        let mut children = Vec::new();
        for (name, _) in super::read_entries(&directory)? {
            let path = self.path.join(&name);
            children.push(Self { directory: Arc::clone(&directory), name, path });
        }
        Ok(children)
    }
}

impl Workspace {
    /// Finds an entry that may be changed. Its directory must exist.
    pub(crate) fn find_entry_to_change(
        &self,
        location: &WorkspacePath,
    ) -> Result<DirectoryEntry, ToolError> {
        let shown = location.shown();
        let path = self.resolve_entry(location)?;
        if path.iter().any(is_git) {
            return Err(ToolError::Forbidden(format!(
                "{shown} belongs to git, which is not changed by hand; use git commands"
            )));
        }
        if let Some(reason) = self.hidden_reason(&path) {
            return Err(hidden_error(location, reason));
        }
        let parent = path.parent().unwrap_or(Path::new(""));
        let directory = self
            .open_parent(parent)
            .map_err(|error| location.describe_error("open the directory of", &error))?;
        let name = path.file_name().unwrap_or_default().to_owned();
        Ok(DirectoryEntry { directory: Arc::new(directory), name, path })
    }

    /// Finds an entry by the path that it was resolved to before. A link that came into the path
    /// since is an error.
    pub(crate) fn find_resolved_entry(&self, path: &Path) -> Result<DirectoryEntry, ToolError> {
        let location = WorkspacePath::from_workspace_path(path);
        let entry = self.find_entry_to_change(&location)?;
        if entry.path != path {
            let shown = location.shown();
            return Err(ToolError::Failed(format!(
                "{shown} leads to another place since it was looked at; call again"
            )));
        }
        Ok(entry)
    }

    /// Resolves the links in the directory of an entry, but not the entry itself.
    pub(crate) fn resolve_entry(&self, location: &WorkspacePath) -> Result<PathBuf, ToolError> {
        let path = location.path();
        let Some(name) = path.file_name() else {
            return Err(ToolError::Forbidden(format!(
                "{} is the workspace or ends in ..; name something in the workspace",
                location.shown()
            )));
        };
        let parent = match path.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        let resolved = self
            .directory()
            .canonicalize(parent)
            .map_err(|error| location.describe_error("open the directory of", &error))?;
        Ok(resolved.strip_prefix(".").unwrap_or(&resolved).join(name))
    }

    /// Returns the directories of a resolved path that do not exist yet, the outermost first.
    pub(crate) fn find_missing_directories(&self, path: &Path) -> Result<Vec<PathBuf>, ToolError> {
        let mut missing = Vec::new();
        for path in path.ancestors().take_while(|path| !path.as_os_str().is_empty()) {
            match self.directory().metadata(path) {
                Ok(metadata) if metadata.is_dir() => break,
                Ok(_) => {
                    let shown = WorkspacePath::from_workspace_path(path).shown().to_owned();
                    return Err(ToolError::Failed(format!("{shown} is there, not a directory")));
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    missing.push(path.to_owned());
                }
                Err(error) => {
                    return Err(
                        WorkspacePath::from_workspace_path(path).describe_error("look at", &error)
                    );
                }
            }
        }
        missing.reverse();
        Ok(missing)
    }

    /// Opens a directory one name at a time, so that no link that appears meanwhile is followed.
    fn open_parent(&self, path: &Path) -> io::Result<Dir> {
        let mut directory = self.directory().try_clone()?;
        for name in path {
            directory = open_child(&directory, name)?;
        }
        Ok(directory)
    }
}

/// Returns the permissions from the metadata.
pub(crate) fn permission_bits(metadata: &Metadata) -> u32 {
    metadata.permissions().mode() & 0o7777
}
