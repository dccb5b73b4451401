//! Describes paths for rules: by where they lead, not by how they were written.

use std::path::{Path, PathBuf};

use lango_tool::{ProposedStep, ToolError};

use super::{Workspace, WorkspacePath};

/// Selects what a call does with the last name of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathUse {
    /// It follows a link to its target.
    Target,
    /// It changes the entry itself, also if that is a link.
    Entry,
}

impl Workspace {
    /// Describes the path of a call as a step. Its words are the path without links and `..`,
    /// relative to the workspace; the path as given and the absolute one are other spellings.
    pub(crate) fn propose_path(&self, path: &str, usage: PathUse) -> ProposedStep {
        // A path that is no path is refused when it is used.
        let Ok(location) = self.check_path(path) else { return ProposedStep::new([path]) };
        let step = self.propose_location(&location, usage);
        step.with_spelling(vec![path.to_owned()])
    }

    /// Does the same as [`Self::propose_path`] with a checked path.
    pub(crate) fn propose_location(
        &self,
        location: &WorkspacePath,
        usage: PathUse,
    ) -> ProposedStep {
        let given = location.to_argument();
        // A path that cannot be resolved is refused when it is used.
        let Ok(resolved) = self.resolve_for(location, usage) else {
            return ProposedStep::new([&given]);
        };
        let relative = if resolved.as_os_str().is_empty() { Path::new(".") } else { &resolved };
        let mut step = ProposedStep::new([&relative.to_string_lossy()])
            .with_spelling(vec![given])
            .with_spelling(vec![self.absolute_path(&resolved).to_string_lossy().into_owned()]);
        // What a rule denies is denied through a link, too.
        if let Ok(target) = self.resolve_what_exists(location) {
            step = step.with_spelling(vec![target.to_string_lossy().into_owned()]);
        }
        step
    }

    fn resolve_for(&self, location: &WorkspacePath, usage: PathUse) -> Result<PathBuf, ToolError> {
        match usage {
            PathUse::Target => self.resolve_what_exists(location),
            PathUse::Entry => self.resolve_entry(location),
        }
    }

    /// Tells whether a new entry can turn the directory that it is in into a repository.
    fn completes_repository(&self, resolved: &Path) -> bool {
        let is_part = resolved.file_name().is_some_and(|name| {
            ["objects", "refs"].iter().any(|part| name.eq_ignore_ascii_case(part))
        });
        let beside = self.absolute_path(resolved).with_file_name("HEAD");
        is_part && beside.symlink_metadata().is_ok()
    }

    /// Returns why a change to a path is asked about whatever the rules allow: it decides what other
    /// programs do, or something in it does.
    pub(crate) fn find_change_warning(&self, path: &str, usage: PathUse) -> Option<String> {
        // A path that is refused when it is used needs no warning.
        let location = self.check_path(path).ok()?;
        self.find_resolved_warning(&self.resolve_for(&location, usage).ok()?)
    }

    /// Does the same as [`Self::find_change_warning`] with a resolved path, relative to the
    /// workspace.
    pub(crate) fn find_resolved_warning(&self, resolved: &Path) -> Option<String> {
        if let Some(protection) = self.protection_of(resolved) {
            return Some(protection.to_string());
        }
        if self.completes_repository(resolved) {
            return Some("with it the directory becomes a repository, whose settings decide which programs git starts".to_owned());
        }
        let within = self.find_place_within(resolved)?;
        let protection = self.inner.places.protection_of(&within)?;
        Some(format!("it contains {}, and {protection}", within.display()))
    }
}
