//! Describes paths for rules: by where they lead, not by how they were written.

use std::path::Path;

use lango_tool::ProposedStep;

use super::Workspace;

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
        let given = vec![path.to_owned()];
        let resolved = self.check_path(path).and_then(|location| match usage {
            PathUse::Target => self.resolve_what_exists(&location),
            PathUse::Entry => self.resolve_entry(&location),
        });
        // A path that cannot be resolved is refused when it is used.
        let Ok(resolved) = resolved else { return ProposedStep::new([path]) };
        let relative = if resolved.as_os_str().is_empty() { Path::new(".") } else { &resolved };
        let mut step = ProposedStep::new([&relative.to_string_lossy()])
            .with_spelling(given)
            .with_spelling(vec![self.absolute_path(&resolved).to_string_lossy().into_owned()]);
        // What a rule denies is denied through a link, too.
        let target = self.check_path(path).and_then(|location| self.resolve_what_exists(&location));
        if let Ok(target) = target {
            step = step.with_spelling(vec![target.to_string_lossy().into_owned()]);
        }
        step
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
        let location = self.check_path(path).ok()?;
        let resolved = match usage {
            PathUse::Target => self.resolve_what_exists(&location).ok()?,
            PathUse::Entry => self.resolve_entry(&location).ok()?,
        };
        if let Some(protection) = self.protection_of(&resolved) {
            return Some(protection.to_string());
        }
        if self.completes_repository(&resolved) {
            return Some("with it the directory becomes a repository, whose settings decide which programs git starts".to_owned());
        }
        let within = self.find_place_within(&resolved)?;
        let protection = self.inner.places.protection_of(&within)?;
        Some(format!("it contains {}, and {protection}", within.display()))
    }
}
