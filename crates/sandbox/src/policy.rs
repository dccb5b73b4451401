//! Defines the configuration for all jobs, and derives the bounds in a workspace.

use std::fs;
use std::path::{Path, PathBuf};

use lango_places::Places;

use crate::capabilities::Capabilities;
use crate::error::SandboxError;
use crate::job::{JobBounds, JobLimits, NetworkAccess, ProtectedPath};
use crate::opened_repository;
use crate::plan::PathPlan;
use crate::repositories::{self, DirectorySnapshot};
use crate::vacancy;

/// The directories at the top of the file system that hold programs.
const PROGRAM_DIRECTORIES: [&str; 9] =
    ["bin", "gnu", "lib", "lib32", "lib64", "libx32", "nix", "sbin", "usr"];

/// The directories at the top of the file system that a job sees though it only reads. Those of
/// processes, devices and temporary files are its own.
const SYSTEM_DIRECTORIES: [&str; 15] = [
    "bin", "dev", "etc", "gnu", "lib", "lib32", "lib64", "libx32", "nix", "proc", "run", "sbin",
    "sys", "tmp", "usr",
];

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
    /// It looks through the whole workspace for repositories, so it blocks.
    pub fn job_bounds(&self, workspace: &Path) -> JobBounds {
        let directories = DirectorySnapshot::take(workspace);
        let mut bounds = self.bounds_without_repositories(workspace);
        let nested = directories.protected_repositories().map(ProtectedPath::directory);
        bounds.protected.extend(nested);
        // Git looks at `.git` first: with a repository there, the directory itself is none.
        let is_needed = |path: &Path| path.file_name() != Some("HEAD".as_ref()) || !has_git(path);
        bounds.protected.retain(|place| is_needed(&place.path));
        bounds.directories = vec![directories];
        bounds
    }

    /// Returns the bounds of a job that only reads in a workspace, given as a canonical path. It sees
    /// the workspace and the programs of the machine, changes nothing, and has no network.
    pub fn reading_bounds(&self, workspace: &Path) -> JobBounds {
        let mut hidden: Vec<_> = self.places.hidden_paths().map(Path::to_owned).collect();
        hidden.extend(list_foreign_directories().filter(|path| path != workspace));
        JobBounds {
            reading: Some(workspace.to_owned()),
            hidden,
            limits: self.limits,
            ..JobBounds::default()
        }
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

/// Returns the directories at the top of the file system that belong to neither the system nor its
/// programs.
fn list_foreign_directories() -> impl Iterator<Item = PathBuf> {
    // What cannot be listed cannot be read by the job either.
    let entries = fs::read_dir("/").into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()))
        .filter(|entry| !SYSTEM_DIRECTORIES.iter().any(|known| entry.file_name() == *known))
        .map(|entry| entry.path())
}

/// Tells whether a path is that of a program of the system, which a job that only reads can run.
pub fn is_system_program(path: &Path) -> bool {
    path.canonicalize().is_ok_and(|real| {
        let mut below = real.components().skip(1);
        below
            .next()
            .is_some_and(|top| PROGRAM_DIRECTORIES.iter().any(|known| top.as_os_str() == *known))
    })
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
