//! Lists the names of hidden and protected places.

use crate::protection::HiddenReason::{self, Browser, Credentials, Sockets};
use crate::protection::PlaceholderKind::{self, Directory, File};
use crate::protection::Protection::{
    self, Agents, CommitHooks, ContinuousIntegration, Editor, Git, Programs, Python, Session,
    Shell, ToolServers,
};

/// Names that decide something in whatever directory they are. `reserved` ones are kept from being
/// created at the top of a workspace, with a placeholder of that kind.
pub(crate) struct NamedPlace {
    pub(crate) name: &'static str,
    pub(crate) protection: Protection,
    pub(crate) reserved: Option<PlaceholderKind>,
}

const fn reserved(name: &'static str, protection: Protection, kind: PlaceholderKind) -> NamedPlace {
    NamedPlace { name, protection, reserved: Some(kind) }
}

const fn existing(name: &'static str, protection: Protection) -> NamedPlace {
    NamedPlace { name, protection, reserved: None }
}

/// The names that are protected in every directory.
pub(crate) const NAMES: &[NamedPlace] = &[
    reserved(".git", Git, Directory),
    // Without this file a directory is no bare repository, whatever else is in it.
    reserved("HEAD", Git, Directory),
    existing(".gitmodules", Git),
    reserved(".pre-commit-config.yaml", CommitHooks, Directory),
    existing(".husky", CommitHooks),
    existing("lefthook.yml", CommitHooks),
    existing(".lefthook.yml", CommitHooks),
    reserved(".lango", Agents, Directory),
    reserved(".agents", Agents, Directory),
    reserved("AGENTS.md", Agents, File),
    reserved(".claude", Agents, Directory),
    reserved(".cursor", Agents, Directory),
    reserved(".codex", Agents, Directory),
    existing("CLAUDE.md", Agents),
    existing("CLAUDE.local.md", Agents),
    existing("GEMINI.md", Agents),
    existing(".gemini", Agents),
    existing(".cursorrules", Agents),
    existing(".windsurfrules", Agents),
    existing(".github/copilot-instructions.md", Agents),
    reserved(".mcp.json", ToolServers, File),
    reserved(".vscode", Editor, Directory),
    existing(".idea", Editor),
    existing(".zed", Editor),
    existing(".devcontainer", Editor),
    existing(".exrc", Editor),
    existing(".nvimrc", Editor),
    existing(".nvim.lua", Editor),
    existing(".dir-locals.el", Editor),
    reserved(".github/workflows", ContinuousIntegration, Directory),
    existing(".github/actions", ContinuousIntegration),
    reserved(".gitlab-ci.yml", ContinuousIntegration, Directory),
    existing(".circleci", ContinuousIntegration),
    existing(".buildkite", ContinuousIntegration),
    existing(".woodpecker", ContinuousIntegration),
    existing(".woodpecker.yml", ContinuousIntegration),
    existing(".travis.yml", ContinuousIntegration),
    existing(".drone.yml", ContinuousIntegration),
    existing("azure-pipelines.yml", ContinuousIntegration),
    existing("bitbucket-pipelines.yml", ContinuousIntegration),
    existing("Jenkinsfile", ContinuousIntegration),
    reserved(".envrc", Shell, Directory),
    existing("usercustomize.py", Python),
    existing("sitecustomize.py", Python),
];

/// A place in a home that programs read at their start.
pub(crate) struct HomePlace {
    pub(crate) name: &'static str,
    pub(crate) protection: Protection,
    pub(crate) kind: PlaceholderKind,
}

const fn home(name: &'static str, protection: Protection, kind: PlaceholderKind) -> HomePlace {
    HomePlace { name, protection, kind }
}

/// The places in a home that decide what programs do.
pub(crate) const HOME_PLACES: &[HomePlace] = &[
    home(".bashrc", Shell, File),
    home(".bash_profile", Shell, File),
    home(".bash_login", Shell, File),
    home(".bash_logout", Shell, File),
    home(".bash_aliases", Shell, File),
    home(".profile", Shell, File),
    home(".zshrc", Shell, File),
    home(".zshenv", Shell, File),
    home(".zprofile", Shell, File),
    home(".zlogin", Shell, File),
    home(".zlogout", Shell, File),
    home(".kshrc", Shell, File),
    home(".mkshrc", Shell, File),
    home(".cshrc", Shell, File),
    home(".tcshrc", Shell, File),
    home(".login", Shell, File),
    home(".logout", Shell, File),
    home(".inputrc", Shell, File),
    home(".config/fish", Shell, Directory),
    home(".config/nushell", Shell, Directory),
    home(".config/direnv", Shell, Directory),
    home(".tmux.conf", Shell, File),
    home(".config/tmux", Shell, Directory),
    home(".screenrc", Shell, File),
    home(".gitconfig", Git, File),
    home(".config/git", Git, Directory),
    home(".vimrc", Editor, File),
    home(".vim", Editor, Directory),
    home(".config/nvim", Editor, Directory),
    home(".emacs", Editor, File),
    home(".emacs.d", Editor, Directory),
    home(".config/Code", Editor, Directory),
    home(".config/zed", Editor, Directory),
    home(".xprofile", Session, File),
    home(".xinitrc", Session, File),
    home(".xsession", Session, File),
    home(".xsessionrc", Session, File),
    home(".pam_environment", Session, File),
    home(".config/autostart", Session, Directory),
    home(".config/systemd", Session, Directory),
    home(".config/environment.d", Session, Directory),
    home(".config/plasma-workspace", Session, Directory),
    home(".local/share/applications", Session, Directory),
    home(".local/share/systemd", Session, Directory),
    home(".ssh", Programs, Directory),
    home(".local/bin", Programs, Directory),
    home("bin", Programs, Directory),
    home(".cargo/bin", Programs, Directory),
    home(".cargo/config.toml", Programs, File),
    home(".cargo/config", Programs, File),
    // Python looks for `usercustomize.py` and for `.pth` files there.
    home(".local/lib", Python, Directory),
    home(".gdbinit", Programs, File),
    home(".pythonrc.py", Python, File),
];

/// A place in a home that is hidden.
pub(crate) struct HiddenHomePlace {
    pub(crate) name: &'static str,
    pub(crate) reason: HiddenReason,
    pub(crate) kind: PlaceholderKind,
}

const fn hidden(
    name: &'static str,
    reason: HiddenReason,
    kind: PlaceholderKind,
) -> HiddenHomePlace {
    HiddenHomePlace { name, reason, kind }
}

/// The places in a home that hold secrets.
pub(crate) const HIDDEN_HOME_PLACES: &[HiddenHomePlace] = &[
    hidden(".ssh", Credentials, Directory),
    hidden(".gnupg", Credentials, Directory),
    hidden(".aws", Credentials, Directory),
    hidden(".azure", Credentials, Directory),
    hidden(".kube", Credentials, Directory),
    hidden(".docker", Credentials, Directory),
    hidden(".config/gcloud", Credentials, Directory),
    hidden(".config/gh", Credentials, Directory),
    hidden(".config/hub", Credentials, Directory),
    hidden(".config/containers", Credentials, Directory),
    hidden(".config/op", Credentials, Directory),
    hidden(".config/1Password", Credentials, Directory),
    hidden(".config/Bitwarden", Credentials, Directory),
    hidden(".config/keepassxc", Credentials, Directory),
    hidden(".terraform.d", Credentials, Directory),
    hidden(".password-store", Credentials, Directory),
    hidden(".local/share/keyrings", Credentials, Directory),
    hidden(".local/share/kwalletd", Credentials, Directory),
    hidden(".netrc", Credentials, File),
    hidden(".git-credentials", Credentials, File),
    hidden(".config/git/credentials", Credentials, File),
    hidden(".pypirc", Credentials, File),
    hidden(".npmrc", Credentials, File),
    hidden(".yarnrc.yml", Credentials, File),
    hidden(".pgpass", Credentials, File),
    hidden(".my.cnf", Credentials, File),
    hidden(".vault-token", Credentials, File),
    hidden(".cargo/credentials", Credentials, File),
    hidden(".cargo/credentials.toml", Credentials, File),
    hidden(".colima", Sockets, Directory),
    hidden(".lima", Sockets, Directory),
    hidden(".rd", Sockets, Directory),
    hidden(".orbstack", Sockets, Directory),
    hidden(".1password", Sockets, Directory),
    hidden(".finch", Sockets, Directory),
    hidden(".local/share/containers/podman", Sockets, Directory),
    hidden(".mozilla", Browser, Directory),
    hidden(".thunderbird", Browser, Directory),
    hidden(".config/google-chrome", Browser, Directory),
    hidden(".config/google-chrome-beta", Browser, Directory),
    hidden(".config/chromium", Browser, Directory),
    hidden(".config/BraveSoftware", Browser, Directory),
    hidden(".config/microsoft-edge", Browser, Directory),
    hidden(".config/vivaldi", Browser, Directory),
    hidden(".config/opera", Browser, Directory),
    hidden(".cache/mozilla", Browser, Directory),
    hidden(".var/app", Browser, Directory),
    hidden("snap/firefox", Browser, Directory),
    hidden("snap/chromium", Browser, Directory),
];

/// Files that only root can read anyway, for users that are root.
pub(crate) const HIDDEN_SYSTEM_PLACES: [&str; 3] =
    ["/etc/shadow", "/etc/shadow-", "/etc/ssl/private"];

/// Directories of Lango in a home, whatever the configuration says.
pub(crate) const OWN_HOME_PLACES: [&str; 4] =
    [".config/lango", ".local/share/lango", ".local/state/lango", ".cache/lango"];
