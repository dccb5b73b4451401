//! Keeps hidden places from being read and changed, whatever the rules allow.

use std::io;
use std::os::fd::{AsFd, AsRawFd as _};
use std::path::{Path, PathBuf};

use lango_places::{HiddenReason, Protection};
use lango_tool::ToolError;

use super::{Workspace, WorkspacePath};

impl Workspace {
    /// Refuses a path that leads to a hidden place.
    pub(super) fn refuse_hidden(&self, location: &WorkspacePath) -> Result<(), ToolError> {
        if !self.inner.has_hidden {
            return Ok(());
        }
        // A path that does not exist is reported where it is used.
        let Ok(resolved) = self.resolve_what_exists(location) else { return Ok(()) };
        match self.hidden_reason(&resolved) {
            Some(reason) => Err(hidden_error(location, reason)),
            None => Ok(()),
        }
    }

    /// Refuses an open file or directory of a hidden place. The path may have led to another one
    /// when it was checked; the handle does not change.
    pub(super) fn refuse_hidden_handle(
        &self,
        location: &WorkspacePath,
        handle: impl AsFd,
    ) -> Result<(), ToolError> {
        if !self.inner.has_hidden {
            return Ok(());
        }
        let link = format!("/proc/self/fd/{}", handle.as_fd().as_raw_fd());
        let path = std::fs::read_link(link)
            .map_err(|error| location.describe_error("find the path of", &error))?;
        match self.inner.places.hidden_reason(&path) {
            Some(reason) => Err(hidden_error(location, reason)),
            None => Ok(()),
        }
    }

    /// Refuses a directory that a walk reached, if it is hidden.
    pub(super) fn refuse_hidden_walk(&self, path: &Path) -> io::Result<()> {
        match self.hidden_reason(path) {
            Some(reason) => {
                Err(io::Error::new(io::ErrorKind::PermissionDenied, reason.to_string()))
            }
            None => Ok(()),
        }
    }

    /// Tells whether a resolved path, relative to the workspace, is hidden.
    pub(crate) fn is_hidden(&self, resolved: &Path) -> bool {
        self.hidden_reason(resolved).is_some()
    }

    /// Tells whether something that exists in a resolved directory is hidden.
    pub(crate) fn contains_hidden(&self, resolved: &Path) -> bool {
        let directory = self.absolute_path(resolved);
        let is_within = |hidden: &Path| hidden.starts_with(&directory) && hidden != directory;
        let mut hidden = self.inner.places.hidden_paths();
        self.inner.has_hidden
            && hidden.any(|path| is_within(path) && path.symlink_metadata().is_ok())
    }

    /// Returns why a resolved path, relative to the workspace, is hidden.
    pub(super) fn hidden_reason(&self, resolved: &Path) -> Option<HiddenReason> {
        if !self.inner.has_hidden {
            return None;
        }
        self.inner.places.hidden_reason(&self.absolute_path(resolved))
    }

    /// Returns what a resolved path, relative to the workspace, decides about other programs.
    pub(super) fn protection_of(&self, resolved: &Path) -> Option<Protection> {
        self.inner.places.protection_of(&self.absolute_path(resolved))
    }

    /// Returns a protected place in a resolved directory.
    pub(super) fn find_place_within(&self, resolved: &Path) -> Option<PathBuf> {
        let directory = self.absolute_path(resolved);
        let places = self.inner.places.places_within(&directory);
        places.filter(|place| place.symlink_metadata().is_ok()).map(Path::to_owned).next()
    }

    /// Returns the absolute form of a resolved path.
    pub(super) fn absolute_path(&self, resolved: &Path) -> PathBuf {
        // A join with the empty path would end in a slash.
        let is_root = resolved.as_os_str().is_empty() || resolved == Path::new(".");
        if is_root { self.root().to_owned() } else { self.root().join(resolved) }
    }
}

/// Builds the error for a hidden place.
pub(super) fn hidden_error(location: &WorkspacePath, reason: HiddenReason) -> ToolError {
    ToolError::Forbidden(format!("{} is hidden from agents: {reason}", location.shown()))
}
