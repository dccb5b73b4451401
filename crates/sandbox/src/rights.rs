//! Gives a job rights beyond the usual bounds: each is resolved to what it opens, and refused where
//! that would open more.

use std::ffi::OsStr;
use std::fmt;
use std::fs;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use lango_places::PlaceholderKind;
use lango_protocol::Right;

use crate::error::SandboxError;
use crate::job::{JobBounds, NetworkAccess, ProtectedPath};
use crate::level::ConfinementLevel;
use crate::opened_repository::{OpenedRepository, find_harmful_indexes, list_deciding_places};
use crate::policy::{SandboxPolicy, list_named_places};
use crate::repositories::{DirectorySnapshot, is_git_directory};
use crate::sandbox::Sandbox;

/// Directories that belong to the machine: programs, their settings, devices and sockets. A job gets
/// none of them, nothing in them, and nothing that contains them.
const SYSTEM_DIRECTORIES: [&str; 14] = [
    "/bin",
    "/boot",
    "/dev",
    "/etc",
    "/lib",
    "/lib32",
    "/lib64",
    "/libx32",
    "/proc",
    "/run",
    "/sbin",
    "/sys",
    "/usr",
    "/var/spool",
];
/// Limits how many entries of a directory are checked for sockets.
const MAX_CHECKED_ENTRY_COUNT: usize = 10_000;

/// A right, resolved to what it opens. It is displayed as the rest of a sentence about a command, such
/// as "may reach the network".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GrantedRight {
    /// Writing an existing repository: the path of its `.git` directory.
    Repository(PathBuf),
    /// Making a repository in a workspace without one.
    NewRepository(PathBuf),
    /// Reaching the network of the machine.
    Network,
    /// Writing to a directory outside of the workspace.
    Directory(PathBuf),
}

impl fmt::Display for GrantedRight {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Repository(git) => write!(
                f,
                "may write the repository {}, except for its hooks, configuration and submodules",
                git.display()
            ),
            Self::NewRepository(workspace) => write!(
                f,
                "may make a repository in {}, which stays if nothing in it names a program",
                workspace.display()
            ),
            Self::Network => {
                f.write_str("may reach the network, the services of this machine included")
            }
            Self::Directory(path) => {
                write!(f, "may write to {} and everything in it", path.display())
            }
        }
    }
}

impl Sandbox {
    /// Resolves a right for a job that runs in `directory` of a workspace, both canonical. An error
    /// says why it cannot be given.
    pub fn resolve_right(
        &self,
        policy: &SandboxPolicy,
        workspace: &Path,
        directory: &Path,
        right: &Right,
    ) -> Result<GrantedRight, SandboxError> {
        let resolved = match (right, self.level()?) {
            (_, ConfinementLevel::None) => {
                Err("commands are not confined here (sandbox.level is none); call without rights"
                    .to_owned())
            }
            (Right::Git, ConfinementLevel::Landlock) => Err(
                "at the level landlock, hooks and configuration of a repository that is written \
                 cannot be kept read-only. bubblewrap can: apt install bubblewrap"
                    .to_owned(),
            ),
            (Right::Git, ConfinementLevel::Bubblewrap) => {
                resolve_repository(policy, workspace, directory)
            }
            (Right::Network, _) => Ok(GrantedRight::Network),
            (Right::Write(path), _) => check_directory(policy, workspace, path)
                .map(|()| GrantedRight::Directory(path.clone())),
        };
        resolved.map_err(|reason| SandboxError::Right { right: right.clone(), reason })
    }
}

impl JobBounds {
    /// Adds a right to the bounds of a job.
    pub fn grant(&mut self, right: GrantedRight) {
        match right {
            GrantedRight::Network => self.network = NetworkAccess::On,
            GrantedRight::Repository(git) => {
                self.protected.retain(|place| place.path != git);
                self.reserve_names_for_git(&git);
                self.protected.extend(list_deciding_places(&git));
                // A job that breaks the repository must not put another one in its place: without
                // `HEAD`, the directory around it is none.
                self.protected.push(ProtectedPath::directory(git.with_file_name("HEAD")));
                self.repository = Some(OpenedRepository::new(&git));
            }
            GrantedRight::NewRepository(workspace) => {
                let git = workspace.join(".git");
                self.protected.retain(|place| place.path != git);
                self.reserve_names_for_git(&git);
                // A placeholder of another job may be there.
                self.directories.iter_mut().for_each(|before| before.forget(&git));
            }
            GrantedRight::Directory(path) => {
                let before = DirectorySnapshot::take(&path);
                self.protected.extend(list_named_places(&path));
                self.protected
                    .extend(before.protected_repositories().map(ProtectedPath::directory));
                self.directories.push(before);
                self.granted.push(path.clone());
                self.writable.push(path);
            }
        }
    }

    /// Reserves missing names by directories, which git does not list: `git add` would take an empty
    /// file.
    fn reserve_names_for_git(&mut self, git: &Path) {
        for place in self.protected.iter_mut().filter(|place| !place.path.starts_with(git)) {
            place.kind = PlaceholderKind::Directory;
        }
        self.keeps_plain_repositories = true;
    }
}

/// Finds the repository of a directory, or the place for a new one.
fn resolve_repository(
    policy: &SandboxPolicy,
    workspace: &Path,
    directory: &Path,
) -> Result<GrantedRight, String> {
    let within = directory.ancestors().take_while(|above| above.starts_with(workspace));
    for git in within.map(|above| above.join(".git")) {
        match git.symlink_metadata() {
            // Git looks further up, too.
            Err(_) => {}
            Ok(found) if found.is_dir() && !is_git_directory(&git) => {}
            Ok(found) if found.is_dir() => {
                check_configured(policy, &git)?;
                // Afterwards, it could not be told apart from one that the job wrote.
                if let Some(index) = find_harmful_indexes(&git).first() {
                    return Err(format!("the index {} cannot be checked", index.display()));
                }
                return Ok(GrantedRight::Repository(git));
            }
            Ok(_) => {
                return Err(format!(
                    "{} leads to a repository in another place, such as that of a submodule or of \
                     another worktree",
                    git.display()
                ));
            }
        }
    }
    check_configured(policy, &workspace.join(".git"))?;
    Ok(GrantedRight::NewRepository(workspace.to_owned()))
}

/// Checks that the configuration does not protect a repository by its path.
fn check_configured(policy: &SandboxPolicy, git: &Path) -> Result<(), String> {
    let covers = |place: &&lango_places::ProtectedPlace| git.starts_with(&place.path);
    match policy.places.protected_places().find(covers) {
        None => Ok(()),
        Some(place) => Err(format!("{} is protected: {}", git.display(), place.protection)),
    }
}

/// Checks that a job can be given a directory without anything that decides about other programs.
fn check_directory(policy: &SandboxPolicy, workspace: &Path, path: &Path) -> Result<(), String> {
    let real = path.canonicalize().map_err(|error| error.to_string())?;
    if real != path {
        return Err(format!("it leads to {}; ask for that", real.display()));
    }
    if !path.is_dir() {
        return Err("it is no directory".to_owned());
    }
    if path.starts_with(workspace) {
        return Err("it lies in the workspace, which needs no right".to_owned());
    }
    if workspace.starts_with(path) {
        return Err("the workspace lies in it".to_owned());
    }
    let touches = |other: &str| {
        // A directory that is a link, such as /bin, stands for its target.
        let other = Path::new(other).canonicalize().unwrap_or_else(|_| other.into());
        path.starts_with(&other) || other.starts_with(path)
    };
    if Path::new("/tmp").starts_with(path) || SYSTEM_DIRECTORIES.into_iter().any(touches) {
        return Err("it belongs to the machine, or contains what does".to_owned());
    }
    if holds_programs(path, &std::env::var_os("PATH").unwrap_or_default()) {
        return Err("it holds programs that are found by their name (PATH)".to_owned());
    }
    let places = &policy.places;
    if let Some(protection) = places.protection_of(path) {
        return Err(format!("it is protected: {protection}"));
    }
    if let Some(within) = places.places_within(path).next() {
        let decides = places.protection_of(within);
        let decides = decides.map(|decides| format!(": {decides}")).unwrap_or_default();
        return Err(format!("it contains {}, which is protected{decides}", within.display()));
    }
    check_sockets(path)
}

/// Tells whether a directory touches one in which programs are found by their name.
fn holds_programs(path: &Path, search_path: &OsStr) -> bool {
    std::env::split_paths(search_path)
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.canonicalize().unwrap_or(directory))
        .any(|directory| directory.starts_with(path) || path.starts_with(&directory))
}

/// Checks that no service listens in a directory: with network, a job could talk to it.
fn check_sockets(directory: &Path) -> Result<(), String> {
    let entries = fs::read_dir(directory).map_err(|error| error.to_string())?;
    let mut entries = entries.take(MAX_CHECKED_ENTRY_COUNT).filter_map(Result::ok);
    if entries.any(|entry| entry.file_type().is_ok_and(|kind| kind.is_socket())) {
        return Err("it holds the socket of a service".to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_with_programs_is_recognized_by_the_search_path() {
        let search_path = OsStr::new("/nowhere/node/v1/bin::relative:/nowhere/tools");
        for path in ["/nowhere/node", "/nowhere/node/v1/bin", "/nowhere/tools/x", "/nowhere"] {
            assert!(holds_programs(Path::new(path), search_path), "{path}");
        }
        for path in ["/nowhere/other", "/nowhere/node2", "/nowhere/tool"] {
            assert!(!holds_programs(Path::new(path), search_path), "{path}");
        }
    }
}
