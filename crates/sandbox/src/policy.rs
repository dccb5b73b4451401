//! What the configuration says about every job, and the bounds that follow in a workspace.
//!
//! The lists of places are here; what is done about them is in `plan.rs`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::job::{Bounds, Limits, Network, Protected};

/// Directories at the top of a workspace that decide what others do there.
const PROTECTED_DIRECTORIES: [&str; 3] = [".git", ".lango", ".agents"];
/// Files of the same kind.
const PROTECTED_FILES: [&str; 2] = [".mcp.json", "AGENTS.md"];

/// Directories of a home that a shell or a service reads when it starts.
const START_DIRECTORIES: [&str; 6] =
    [".config/fish", ".config/git", ".config/autostart", ".config/systemd", ".ssh", ".local/bin"];
/// Files of the same kind.
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

/// Directories of a home that hold keys and passwords.
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
/// Files of the same kind.
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
/// What only the user root can read anyway, for those who are.
const SYSTEM_KEYS: [&str; 3] = ["/etc/shadow", "/etc/shadow-", "/etc/ssl/private"];
/// Where browsers keep what they are logged in to.
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

/// How deep below a workspace `.git` is looked for.
pub const NESTED_DEPTH: usize = 3;
/// How many entries are looked at for it.
pub const NESTED_ENTRIES: usize = 2000;

/// What holds for every job.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    /// The user's home: where keys, passwords and start-up files are.
    pub home: Option<PathBuf>,
    /// Writable beside the workspace.
    pub writable: Vec<PathBuf>,
    /// Protected beside the usual names.
    pub protected: Vec<PathBuf>,
    /// Hidden beside the usual places.
    pub hidden: Vec<PathBuf>,
    /// Whether the network can be reached.
    pub network: Network,
    /// How much of the machine a job may use.
    pub limits: Limits,
}

impl Policy {
    /// The bounds of a job in a workspace, which is given as it really is.
    ///
    /// `.git` is also looked for in [`NESTED_DEPTH`] levels of directories below, among the first
    /// [`NESTED_ENTRIES`] entries.
    pub fn bounds(&self, workspace: &Path) -> Bounds {
        let home = self.home.as_ref().map(|home| home.canonicalize().unwrap_or(home.clone()));
        let below_home = |names: &[&str]| -> Vec<PathBuf> {
            home.iter().flat_map(|home| names.iter().map(|name| home.join(name))).collect()
        };
        let mut protected: Vec<Protected> = Vec::new();
        for root in std::iter::once(workspace).chain(self.writable.iter().map(PathBuf::as_path)) {
            let directories =
                PROTECTED_DIRECTORIES.map(|name| Protected::directory(root.join(name)));
            protected.extend(directories);
            protected.extend(PROTECTED_FILES.map(|name| Protected::file(root.join(name))));
        }
        protected.extend(repositories(workspace).into_iter().map(Protected::directory));
        protected.extend(below_home(&START_DIRECTORIES).into_iter().map(Protected::directory));
        protected.extend(below_home(&START_FILES).into_iter().map(Protected::file));
        // Hidden as well; here so that what stands in for a missing one is a file.
        protected.extend(below_home(&KEY_FILES).into_iter().map(Protected::file));
        protected.extend(self.protected.iter().map(Protected::directory));
        let mut hidden = below_home(&KEY_DIRECTORIES);
        hidden.extend(below_home(&KEY_FILES));
        hidden.extend(below_home(&BROWSERS));
        hidden.extend(SYSTEM_KEYS.map(PathBuf::from));
        hidden.extend(self.hidden.iter().cloned());
        let mut writable = vec![workspace.to_owned()];
        writable.extend(self.writable.iter().cloned());
        Bounds {
            writable,
            readable: Vec::new(),
            protected,
            hidden,
            network: self.network,
            limits: self.limits,
        }
    }
}

/// `.git` in directories below a workspace, the nearest first, as far as we look.
fn repositories(workspace: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut level = vec![workspace.to_owned()];
    let mut left = NESTED_ENTRIES;
    for _ in 0..NESTED_DEPTH {
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
    // The directories of the last level are not listed, only asked.
    for directory in level.into_iter().take(left) {
        let path = directory.join(".git");
        if path.symlink_metadata().is_ok() {
            found.push(path);
        }
    }
    found
}
