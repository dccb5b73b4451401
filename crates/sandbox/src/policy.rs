//! Defines the configuration for all jobs, and derives the bounds in a workspace.

use std::path::{Path, PathBuf};

use lango_places::Places;

use crate::capabilities::Capabilities;
use crate::error::SandboxError;
use crate::job::{JobBounds, JobLimits, NetworkAccess, ProtectedPath};
use crate::opened_repository;
use crate::plan::PathPlan;
use crate::repositories::{self, DirectorySnapshot};
use crate::vacancy;

/// The rules for every job.
#[derive(Debug, Clone, Default)]
pub struct SandboxPolicy {
    /// The user's home.
    pub home: Option<PathBuf>,
    /// Writable paths in addition to the workspace.
    pub writable: Vec<PathBuf>,
    /// The hidden and protected places.
    pub places: Places,
    /// The access to the machine's network.
    pub network: NetworkAccess,
    /// The resource limits of a job.
    pub limits: JobLimits,
}

impl SandboxPolicy {
    /// Returns the bounds of a job in a workspace, given as a canonical path.
    ///
    /// Repositories are also searched in [`crate::MAX_NESTED_DEPTH`] levels of directories below,
    /// among the first [`crate::MAX_NESTED_ENTRY_COUNT`] entries.
    pub fn job_bounds(&self, workspace: &Path) -> JobBounds {
        let directories = DirectorySnapshot::take(workspace);
        let mut bounds = self.bounds_without_repositories(workspace);
        let nested = directories.nested_repositories().map(ProtectedPath::directory);
        bounds.protected.extend(nested);
        // Git looks at `.git` first: with a repository there, the directory itself is none.
        let is_needed = |path: &Path| path.file_name() != Some("HEAD".as_ref()) || !has_git(path);
        bounds.protected.retain(|place| is_needed(&place.path));
        bounds.directories = vec![directories];
        bounds
    }

    /// Removes the placeholders that a killed process left in a workspace, and ends processes that
    /// it left. Placeholders that are in use stay, and so does everything else.
    pub fn remove_leftovers(&self, workspace: &Path) -> Result<(), SandboxError> {
        let plan = PathPlan::from_bounds(&self.bounds_without_repositories(workspace))?;
        let in_repository = opened_repository::list_deciding_places(&workspace.join(".git"));
        let left: Vec<&Path> = plan
            .vacant_paths()
            .chain(in_repository.iter().map(|place| place.path.as_path()))
            .filter(|path| path.symlink_metadata().is_ok_and(|found| vacancy::is_marked(&found)))
            .collect();
        if !left.is_empty() {
            // Finding control groups ends what was left in them.
            Capabilities::probe();
        }
        for path in left {
            vacancy::remove_leftover(path);
        }
        Ok(())
    }

    fn bounds_without_repositories(&self, workspace: &Path) -> JobBounds {
        let mut writable = vec![workspace.to_owned()];
        writable.extend(self.writable.iter().cloned());
        let named = writable.iter().flat_map(|root| list_named_places(root));
        let listed = self.places.protected_places();
        let listed =
            listed.map(|place| ProtectedPath { path: place.path.clone(), kind: place.kind });
        JobBounds {
            protected: named.chain(listed).collect(),
            writable,
            hidden: self.places.hidden_paths().map(Path::to_owned).collect(),
            network: self.network,
            limits: self.limits,
            ..JobBounds::default()
        }
    }
}

/// Tells whether git finds a repository in `.git` beside a path.
fn has_git(path: &Path) -> bool {
    let git = path.with_file_name(".git");
    git.is_file() || repositories::is_git_directory(&git)
}

/// Returns the places at the top of a writable directory that are protected by their names.
pub(crate) fn list_named_places(root: &Path) -> Vec<ProtectedPath> {
    let exists = |path: &Path| path.symlink_metadata().is_ok();
    let places = Places::named_places_in(root, exists).into_iter();
    let mut places: Vec<_> =
        places.map(|place| ProtectedPath { path: place.path, kind: place.kind }).collect();
    if repositories::is_git_directory(root) {
        places.extend(
            repositories::DECIDING_NAMES.map(|name| ProtectedPath::directory(root.join(name))),
        );
    }
    places
}
