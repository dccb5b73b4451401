//! Defines the configuration for all jobs, and derives the bounds in a workspace.
//!
//! This file has the lists of paths; `plan.rs` handles them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::job::{JobBounds, JobLimits, NetworkAccess, ProtectedPath};

/// Directories at the top of a workspace that control what other programs do there.
const PROTECTED_DIRECTORIES: [&str; 3] = [".git", ".lango", ".agents"];
/// Files at the top of a workspace that control what other programs do there.
const PROTECTED_FILES: [&str; 2] = [".mcp.json", "AGENTS.md"];

/// Directories of a home that a shell or a service reads at its start.
const START_DIRECTORIES: [&str; 6] =
    [".config/fish", ".config/git", ".config/autostart", ".config/systemd", ".ssh", ".local/bin"];
/// Files of a home that a shell or a service reads at its start.
const START_FILES: [&str; 14] = [
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_aliases",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".gitconfig",
    ".inputrc",
    ".vimrc",
    ".xprofile",
];

/// Directories of a home that contain keys and passwords.
const KEY_DIRECTORIES: [&str; 18] = [
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".config/gcloud",
    ".config/gh",
    ".config/hub",
    ".config/containers",
    ".config/op",
    ".config/1Password",
    ".config/Bitwarden",
    ".config/keepassxc",
    ".terraform.d",
    ".password-store",
    ".local/share/keyrings",
    ".colima",
];
/// Files of a home that contain keys and passwords.
const KEY_FILES: [&str; 11] = [
    ".netrc",
    ".git-credentials",
    ".config/git/credentials",
    ".pypirc",
    ".npmrc",
    ".yarnrc.yml",
    ".pgpass",
    ".my.cnf",
    ".vault-token",
    ".cargo/credentials",
    ".cargo/credentials.toml",
];
/// Files that only root can read anyway, for users that are root.
const SYSTEM_KEYS: [&str; 3] = ["/etc/shadow", "/etc/shadow-", "/etc/ssl/private"];
/// The directories in which browsers keep their sessions.
const BROWSERS: [&str; 13] = [
    ".mozilla",
    ".thunderbird",
    ".config/google-chrome",
    ".config/google-chrome-beta",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".config/vivaldi",
    ".config/opera",
    ".cache/mozilla",
    ".var/app",
    "snap/firefox",
    "snap/chromium",
];

/// Limits how deep below a workspace `.git` is searched.
pub const MAX_NESTED_DEPTH: usize = 3;
/// Limits how many entries are checked for it.
pub const MAX_NESTED_ENTRY_COUNT: usize = 2000;

/// The rules for every job.
#[derive(Debug, Clone, Default)]
pub struct SandboxPolicy {
    /// The user's home, with keys, passwords and start-up files.
    pub home: Option<PathBuf>,
    /// Writable paths in addition to the workspace.
    pub writable: Vec<PathBuf>,
    /// Protected paths in addition to the usual names.
    pub protected: Vec<PathBuf>,
    /// Hidden paths in addition to the usual ones.
    pub hidden: Vec<PathBuf>,
    /// The access to the machine's network.
    pub network: NetworkAccess,
    /// The resource limits of a job.
    pub limits: JobLimits,
}

impl SandboxPolicy {
    /// Returns the bounds of a job in a workspace, given as a canonical path.
    ///
    /// `.git` is also searched in [`MAX_NESTED_DEPTH`] levels of directories below, among the first
    /// [`MAX_NESTED_ENTRY_COUNT`] entries.
    pub fn job_bounds(&self, workspace: &Path) -> JobBounds {
        let home = self.home.as_ref().map(|home| home.canonicalize().unwrap_or(home.clone()));
        let below_home = |names: &[&str]| -> Vec<PathBuf> {
            home.iter().flat_map(|home| names.iter().map(|name| home.join(name))).collect()
        };
        let mut protected: Vec<ProtectedPath> = Vec::new();
        for root in std::iter::once(workspace).chain(self.writable.iter().map(PathBuf::as_path)) {
            let directories =
                PROTECTED_DIRECTORIES.map(|name| ProtectedPath::directory(root.join(name)));
            protected.extend(directories);
            protected.extend(PROTECTED_FILES.map(|name| ProtectedPath::file(root.join(name))));
        }
        protected.extend(find_repositories(workspace).into_iter().map(ProtectedPath::directory));
        protected.extend(below_home(&START_DIRECTORIES).into_iter().map(ProtectedPath::directory));
        protected.extend(below_home(&START_FILES).into_iter().map(ProtectedPath::file));
        // These are hidden as well; listed here so that the placeholder of a missing one is a file.
        protected.extend(below_home(&KEY_FILES).into_iter().map(ProtectedPath::file));
        protected.extend(self.protected.iter().map(ProtectedPath::directory));
        let mut hidden = below_home(&KEY_DIRECTORIES);
        hidden.extend(below_home(&KEY_FILES));
        hidden.extend(below_home(&BROWSERS));
        hidden.extend(SYSTEM_KEYS.map(PathBuf::from));
        hidden.extend(self.hidden.iter().cloned());
        let mut writable = vec![workspace.to_owned()];
        writable.extend(self.writable.iter().cloned());
        JobBounds {
            writable,
            readable: Vec::new(),
            protected,
            hidden,
            network: self.network,
            limits: self.limits,
        }
    }
}

/// Returns the `.git` paths in directories below a workspace, the nearest first, within the limits.
fn find_repositories(workspace: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut level = vec![workspace.to_owned()];
    let mut left = MAX_NESTED_ENTRY_COUNT;
    for _ in 0..MAX_NESTED_DEPTH {
        let mut next = Vec::new();
        for directory in level {
            for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
                if left == 0 {
                    return found;
                }
                left -= 1;
                if entry.file_name() == ".git" {
                    found.push(entry.path());
                } else if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    next.push(entry.path());
                }
            }
        }
        level = next;
    }
    // The directories of the last level are not listed, only checked for `.git`.
    for directory in level.into_iter().take(left) {
        let path = directory.join(".git");
        if path.symlink_metadata().is_ok() {
            found.push(path);
        }
    }
    found
}
