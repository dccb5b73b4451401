//! Replaces a file as a whole, or not at all.
//!
//! The parent directory is reached one name at a time without following links, after the path was
//! resolved once, so the rules on names (`.git`) hold for the path that is really written to.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use cap_std::fs::{Dir, Metadata, MetadataExt as _, OpenOptions, OpenOptionsExt as _};
use cap_std::fs::{Permissions, PermissionsExt as _};
use lango_tool::ToolError;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use crate::changes::{ChangeKind, FileChange, PreviousFile};

use super::visibility::hidden_error;
use super::{EntryKind, Workspace, WorkspacePath, is_git, open_regular, permission_bits};

/// Begins the names of files that are being written.
const TEMPORARY_PREFIX: &str = ".lango-write-";
/// Limits the entries of a directory that are looked at for files that were left behind.
const MAX_LEFTOVER_LOOK_COUNT: usize = 1000;
/// A file of a dead process that is younger may belong to a process that cannot be seen from here.
const MIN_LEFTOVER_AGE: Duration = Duration::from_mins(1);

/// Names a file in the workspace that may be written to.
#[derive(Debug)]
pub(crate) struct WriteTarget {
    directory: Dir,
    name: OsString,
    location: WorkspacePath,
    existing: Option<Metadata>,
    /// The path without links, relative to the workspace.
    path: PathBuf,
}

impl Workspace {
    /// Finds the path that a write to `location` would go to, and creates nothing.
    ///
    /// Links are resolved, also when the last names do not exist yet.
    pub(crate) fn resolve_for_writing(
        &self,
        location: &WorkspacePath,
    ) -> Result<PathBuf, ToolError> {
        let resolved = self.resolve_what_exists(location)?;
        if resolved.iter().chain(location.path().iter()).any(is_git) {
            return Err(ToolError::Forbidden(format!(
                "{} belongs to git, which is not written to by hand; use git commands",
                location.shown()
            )));
        }
        match self.hidden_reason(&resolved) {
            Some(reason) => Err(hidden_error(location, reason)),
            None => Ok(resolved),
        }
    }

    /// Opens the target of `location` for writing, with its missing parents created.
    pub(crate) fn write_target(&self, location: &WorkspacePath) -> Result<WriteTarget, ToolError> {
        let resolved = self.resolve_for_writing(location)?;
        let is_directory = || {
            let shown = location.shown();
            ToolError::Failed(format!("{shown} is a directory; name a file in it"))
        };
        let name = resolved.file_name().ok_or_else(is_directory)?.to_owned();
        let parent = resolved.parent().unwrap_or(Path::new(""));
        let directory = self
            .open_or_create(parent)
            .map_err(|error| location.describe_error("open the directory of", &error))?;
        let existing = match directory.symlink_metadata(&name) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(location.describe_error("look at", &error)),
        };
        if let Some(metadata) = &existing {
            if metadata.is_dir() {
                return Err(is_directory());
            }
            check_replaceable(location, metadata)?;
        }
        Ok(WriteTarget {
            directory,
            name,
            location: location.clone(),
            existing,
            path: resolved.clone(),
        })
    }

    /// Resolves the links in a path, also when its last names do not exist.
    pub(super) fn resolve_what_exists(
        &self,
        location: &WorkspacePath,
    ) -> Result<PathBuf, ToolError> {
        let mut existing_part = location.path();
        let mut missing = Vec::new();
        loop {
            match self.directory().canonicalize(existing_part) {
                Ok(existing) => {
                    let mut resolved = existing.strip_prefix(".").unwrap_or(&existing).to_owned();
                    resolved.extend(missing.into_iter().rev());
                    return Ok(resolved);
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(location.describe_error("resolve", &error)),
            }
            if self.directory().symlink_metadata(existing_part).is_ok() {
                return Err(ToolError::Failed(format!(
                    "{} goes through a link to something that does not exist; write to the \
                     link's target by its own name",
                    location.shown()
                )));
            }
            let Some(Component::Normal(name)) = existing_part.components().next_back() else {
                return Err(ToolError::Failed(format!(
                    "{} has .. after a directory that does not exist; write the path without ..",
                    location.shown()
                )));
            };
            missing.push(name);
            existing_part = match existing_part.parent() {
                Some(parent) if !parent.as_os_str().is_empty() => parent,
                _ => Path::new("."),
            };
        }
    }

    fn open_or_create(&self, path: &Path) -> io::Result<Dir> {
        let mut directory = self.directory().try_clone()?;
        for component in path.components() {
            let Component::Normal(name) = component else { continue };
            directory = match open_child(&directory, name) {
                Err(Errno::NOENT) => {
                    match rustix::fs::mkdirat(&directory, name, Mode::from_raw_mode(0o777)) {
                        // Another process may have created it just now.
                        Ok(()) | Err(Errno::EXIST) => open_child(&directory, name)?,
                        Err(error) => return Err(error.into()),
                    }
                }
                opened => opened?,
            };
        }
        Ok(directory)
    }
}

impl WriteTarget {
    /// Tells whether the file exists already.
    pub(crate) fn exists(&self) -> bool {
        self.existing.is_some()
    }

    /// Describes the change that writing `content` here would be, with the present content.
    pub(crate) fn describe_change(&self, content: &[u8], before: Option<Vec<u8>>) -> FileChange {
        let before = self.existing.as_ref().map(|existing| {
            // Larger content was not read.
            PreviousFile { content: before, mode: permission_bits(existing) }
        });
        let after = crate::digest::sha256_hex(content);
        FileChange { path: self.path.clone(), kind: ChangeKind::Write { before, after } }
    }

    /// Returns the present content of the file; none if it is larger than `max_bytes` or does not
    /// exist.
    pub(crate) fn read_current(&self, max_bytes: u64) -> Result<Option<Vec<u8>>, ToolError> {
        let Some(metadata) = &self.existing else { return Ok(None) };
        if metadata.len() > max_bytes {
            return Ok(None);
        }
        let read = || -> io::Result<Option<Vec<u8>>> {
            let Some((file, _)) = open_regular(&self.directory, Path::new(&self.name))? else {
                return Ok(None);
            };
            let mut content = Vec::new();
            file.take(max_bytes).read_to_end(&mut content)?;
            Ok(Some(content))
        };
        read().map_err(|error| self.location.describe_error("read", &error))
    }

    /// Writes `content` in one step, keeping the mode of an existing file.
    ///
    /// With `create_only` a file that exists, or appears meanwhile, is an error. A file that
    /// changed since this target was opened is an error too.
    pub(crate) fn replace(&self, content: &[u8], create_only: bool) -> Result<(), ToolError> {
        self.replace_with(content, create_only, self.existing.as_ref().map(permission_bits))
    }

    /// Does the same as [`Self::replace`] with the mode that the file is to have; the default one
    /// if none is given.
    pub(crate) fn replace_with(
        &self,
        content: &[u8],
        create_only: bool,
        mode: Option<u32>,
    ) -> Result<(), ToolError> {
        let mut temporary = TemporaryFile::create(&self.directory, mode)
            .map_err(|error| self.location.describe_error("write", &error))?;
        temporary
            .write_content(content)
            .map_err(|error| self.location.describe_error("write", &error))?;
        if !create_only && !self.is_unchanged() {
            return Err(ToolError::Failed(format!(
                "{} was changed by another process meanwhile and was left alone; read it again",
                self.location.shown()
            )));
        }
        if create_only {
            // A link, unlike a rename, never replaces.
            temporary.link(&self.name).map_err(|error| {
                if error.kind() == io::ErrorKind::AlreadyExists {
                    self.already_exists_error()
                } else {
                    self.location.describe_error("create", &error)
                }
            })?;
        } else {
            temporary
                .rename(&self.name)
                .map_err(|error| self.location.describe_error("replace", &error))?;
        }
        drop(temporary);
        // The file itself is on disk by now; some file systems refuse to sync directories.
        let _ = rustix::fs::fsync(&self.directory);
        Ok(())
    }

    /// Builds the error for `create_only` if the file exists.
    pub(crate) fn already_exists_error(&self) -> ToolError {
        ToolError::Failed(format!(
            "{} already exists and was left alone; use fs_edit, or fs_write without create_only",
            self.location.shown()
        ))
    }

    fn is_unchanged(&self) -> bool {
        let identity = |metadata: &Metadata| {
            (
                metadata.dev(),
                metadata.ino(),
                metadata.size(),
                metadata.mtime(),
                metadata.mtime_nsec(),
            )
        };
        // What cannot be looked at counts as gone, which is a change if it was there.
        let now = self.directory.symlink_metadata(&self.name).ok();
        match (&self.existing, &now) {
            (Some(before), Some(now)) => identity(before) == identity(now) && now.nlink() == 1,
            (None, None) => true,
            (None, Some(_)) | (Some(_), None) => false,
        }
    }
}

/// Holds a file under a temporary name, removed again unless it was renamed.
struct TemporaryFile<'a> {
    directory: &'a Dir,
    name: String,
    file: File,
    mode: Option<u32>,
    renamed: bool,
}

impl<'a> TemporaryFile<'a> {
    fn create(directory: &'a Dir, mode: Option<u32>) -> io::Result<Self> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let mut options = OpenOptions::new();
        // Until it has the mode of the file it replaces, no other user may read it.
        let first = if mode.is_some() { 0o600 } else { 0o666 };
        options.write(true).create_new(true).mode(first);
        remove_leftovers(directory);
        loop {
            let number = COUNTER.fetch_add(1, Ordering::Relaxed);
            let name = format!("{TEMPORARY_PREFIX}{}-{number}", std::process::id());
            match directory.open_with(&name, &options) {
                // It was left behind by a process that had the same id.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
                Ok(file) => {
                    let file = file.into_std();
                    return Ok(Self { directory, name, file, mode, renamed: false });
                }
            }
        }
    }

    fn write_content(&mut self, content: &[u8]) -> io::Result<()> {
        self.file.write_all(content)?;
        if let Some(mode) = self.mode {
            // A write clears the set-id bits, as usual on Unix.
            let permissions = Permissions::from_mode(mode & 0o777);
            self.file.set_permissions(permissions.into_std(&self.file)?)?;
        }
        self.file.sync_all()
    }

    fn rename(&mut self, name: &OsStr) -> io::Result<()> {
        self.directory.rename(&self.name, self.directory, name)?;
        self.renamed = true;
        Ok(())
    }

    fn link(&self, name: &OsStr) -> io::Result<()> {
        self.directory.hard_link(&self.name, self.directory, name)
    }
}

impl Drop for TemporaryFile<'_> {
    fn drop(&mut self) {
        if !self.renamed {
            // An error cannot be returned from a drop.
            let _ = self.directory.remove_file(&self.name);
        }
    }
}

/// Removes the files that killed processes left in a directory while they wrote. What cannot be removed
/// stays: it disturbs no write.
fn remove_leftovers(directory: &Dir) {
    let Ok(entries) = directory.entries() else { return };
    for entry in entries.take(MAX_LEFTOVER_LOOK_COUNT).flatten() {
        let name = entry.file_name();
        let Some(process) = name.to_str().and_then(|name| name.strip_prefix(TEMPORARY_PREFIX))
        else {
            continue;
        };
        let id = process.split('-').next().and_then(|id| id.parse().ok()).and_then(Pid::from_raw);
        let is_gone = id.is_some_and(|id| test_kill_process(id) == Err(Errno::SRCH));
        let age = entry.metadata().and_then(|metadata| metadata.modified());
        let age = age.ok().and_then(|time| time.into_std().elapsed().ok());
        // A process in another container has an id that is not known here; no write takes so long.
        if is_gone && age.is_some_and(|age| age >= MIN_LEFTOVER_AGE) {
            drop(directory.remove_file(&name));
        }
    }
}

/// Opens a directory in a directory; a link is not followed.
pub(super) fn open_child(directory: &Dir, name: &OsStr) -> Result<Dir, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(directory, name, flags, Mode::empty()).map(Dir::from)
}

fn check_replaceable(location: &WorkspacePath, metadata: &Metadata) -> Result<(), ToolError> {
    let shown = location.shown();
    match EntryKind::of_file_type(metadata.file_type()) {
        EntryKind::File => {}
        kind => {
            return Err(ToolError::Failed(format!(
                "{shown} is a {kind}, which is never opened; only regular files can be written"
            )));
        }
    }
    if metadata.nlink() > 1 {
        return Err(ToolError::Forbidden(format!(
            "{shown} is a hard link, so the same file may also lie outside the workspace; delete \
             this name first, then write a new file"
        )));
    }
    if metadata.mode() & 0o200 == 0 {
        return Err(ToolError::Failed(format!(
            "{shown} is read-only; change its mode first if it is meant to be written"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn a_write_removes_what_killed_processes_left_in_the_directory() {
        let directory = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        let (dead, alive) = (child.id(), std::process::id());
        let leave = |name: String, age: u64| {
            let file = File::create(directory.path().join(name)).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(age)).unwrap();
        };
        leave(format!(".lango-write-{dead}-0"), 600);
        leave(format!(".lango-write-{dead}-1"), 5);
        leave(format!(".lango-write-{alive}-900"), 600);
        leave(".lango-write-notes".to_owned(), 600);
        let opened = Dir::open_ambient_dir(directory.path(), cap_std::ambient_authority()).unwrap();
        drop(TemporaryFile::create(&opened, None).unwrap());
        let mut left: Vec<String> = std::fs::read_dir(directory.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        let mut expected = vec![
            format!(".lango-write-{dead}-1"),
            format!(".lango-write-{alive}-900"),
            ".lango-write-notes".to_owned(),
        ];
        expected.sort();
        assert_eq!(left, expected);
    }
}
