//! Tells whether a repository that a job made is as plain git makes it: nothing in it names a program.

use std::fs;
use std::path::Path;

use crate::opened_repository::is_harmless_inside;

/// Limits the size of a configuration that is read.
const MAX_CONFIG_BYTES: u64 = 64 * 1024;

/// The names in a repository that must not be there. Empty directories are harmless.
const REFUSED_NAMES: [&str; 10] = [
    "commondir",
    "config.worktree",
    "info/attributes",
    "modules",
    "objects/info/alternates",
    "objects/info/http-alternates",
    "rebase-merge",
    "remotes",
    "branches",
    "worktrees",
];

/// Tells whether a `.git` directory decides nothing about programs: its configuration has only keys
/// that `git init` and `git clone` write, and its hooks are samples.
///
/// It must be called when no job can write there any more.
pub(crate) fn is_plain_repository(path: &Path) -> bool {
    let kind = |name: &str| path.join(name).symlink_metadata();
    path.file_name() == Some(".git".as_ref())
        && path.symlink_metadata().is_ok_and(|found| found.is_dir())
        && kind("HEAD").is_ok_and(|found| found.is_file())
        && REFUSED_NAMES.iter().all(|name| is_missing_or_empty(&path.join(name)))
        && has_sample_hooks_only(&path.join("hooks"))
        && has_plain_config(&path.join("config"))
        && is_harmless_inside(path)
}

fn is_missing_or_empty(path: &Path) -> bool {
    match path.symlink_metadata() {
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        Ok(found) if found.is_dir() => {
            fs::read_dir(path).is_ok_and(|mut entries| entries.next().is_none())
        }
        Ok(_) => false,
    }
}

fn has_sample_hooks_only(hooks: &Path) -> bool {
    match hooks.symlink_metadata() {
        Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        Ok(found) => {
            let is_sample = |entry: std::io::Result<fs::DirEntry>| {
                entry.is_ok_and(|entry| {
                    entry.file_type().is_ok_and(|kind| kind.is_file())
                        && entry.file_name().to_string_lossy().ends_with(".sample")
                })
            };
            // A link to a directory is none.
            found.is_dir() && fs::read_dir(hooks).is_ok_and(|mut entries| entries.all(is_sample))
        }
    }
}

fn has_plain_config(path: &Path) -> bool {
    let is_small_file = |found: fs::Metadata| found.is_file() && found.len() <= MAX_CONFIG_BYTES;
    path.symlink_metadata().is_ok_and(is_small_file)
        && fs::read_to_string(path).is_ok_and(|text| is_plain_config(&text))
}

/// Tells whether every line is a section or a key that plain git writes. What this does not
/// understand, such as quotes and continued lines, is not plain.
fn is_plain_config(text: &str) -> bool {
    let mut section = ConfigSection::default();
    text.split('\n').all(|line| {
        let line = line.trim_matches([' ', '\t']);
        if line.chars().any(char::is_control) {
            return false;
        }
        if line.is_empty() || line.starts_with(['#', ';']) {
            return true;
        }
        if line.starts_with('[') {
            let parsed = ConfigSection::parse(line);
            section = parsed.clone().unwrap_or_default();
            return parsed.is_some();
        }
        let pair = line.split_once('=');
        pair.is_some_and(|(key, value)| section.takes(key.trim(), value.trim()))
    })
}

/// The heading of a section: `[core]` or `[remote "origin"]`.
#[derive(Debug, Clone, Default)]
struct ConfigSection {
    name: String,
    has_subsection: bool,
}

impl ConfigSection {
    fn parse(line: &str) -> Option<Self> {
        let inner = line.strip_prefix('[')?.strip_suffix(']')?;
        let (name, subsection) = match inner.split_once(' ') {
            None => (inner, None),
            Some((name, quoted)) => (name, Some(quoted.strip_prefix('"')?.strip_suffix('"')?)),
        };
        let is_plain = name.chars().all(|letter| letter.is_ascii_alphanumeric())
            && subsection.is_none_or(|text| !text.contains(['"', '\\', ']', '[']));
        let name = name.to_ascii_lowercase();
        is_plain.then_some(Self { name, has_subsection: subsection.is_some() })
    }

    /// Tells whether plain git writes this key with such a value.
    fn takes(&self, key: &str, value: &str) -> bool {
        if value.contains(['"', '\\', '#', ';']) {
            return false;
        }
        let is_switch = matches!(value, "true" | "false");
        let key = key.to_ascii_lowercase();
        match (self.name.as_str(), self.has_subsection, key.as_str()) {
            ("core", false, "repositoryformatversion") => matches!(value, "0" | "1"),
            ("core", false, "bare") => value == "false",
            (
                "core",
                false,
                "filemode" | "logallrefupdates" | "ignorecase" | "precomposeunicode" | "symlinks",
            )
            | ("branch", true, "rebase") => is_switch,
            ("extensions", false, "objectformat") => matches!(value, "sha1" | "sha256"),
            ("remote", true, "url") => is_plain_address(value),
            ("remote", true, "fetch") | ("branch", true, "merge") => {
                value.trim_start_matches('+').starts_with("refs/")
            }
            ("branch", true, "remote") => {
                value
                    .chars()
                    .all(|letter| letter.is_ascii_alphanumeric() || "._-/".contains(letter))
                    && !value.starts_with('-')
            }
            _ => false,
        }
    }
}

/// Tells whether an address is reached by a usual protocol. `ext::` and other helpers run programs.
fn is_plain_address(address: &str) -> bool {
    if address.contains("::") || address.contains(char::is_whitespace) {
        return false;
    }
    let is_host = |rest: &str| {
        let host = rest.rsplit_once('@').map_or(rest, |(_, host)| host);
        !rest.starts_with('-') && host.starts_with(|letter: char| letter.is_ascii_alphanumeric())
    };
    match address.split_once("://") {
        Some(("https" | "http" | "ssh" | "git", rest)) => {
            is_host(rest.split('/').next().unwrap_or_default())
        }
        Some(("file", path)) => path.starts_with('/'),
        Some(_) => false,
        // A path, or `user@host:path`.
        None => {
            address.starts_with('/')
                || address.split_once(':').is_some_and(|(host, _)| {
                    host.contains('@') && is_host(host) && !host.contains('/')
                })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\
        \tlogallrefupdates = true\n[remote \"origin\"]\n\turl = https://example.org/a.git\n\
        \tfetch = +refs/heads/*:refs/remotes/origin/*\n[branch \"main\"]\n\tremote = origin\n\
        \tmerge = refs/heads/main\n";

    #[test]
    fn what_plain_git_writes_is_plain() {
        assert!(is_plain_config(PLAIN));
        for address in ["git@example.org:a/b.git", "ssh://git@example.org/a", "/home/me/a.git"] {
            assert!(is_plain_address(address), "{address}");
        }
    }

    #[test]
    fn what_names_a_program_or_is_not_understood_is_not_plain() {
        for more in [
            "[core]\nfsmonitor = ./evil",
            "[core]\nfsmonitor=./evil",
            "[CORE]\nFSMonitor = ./evil",
            "[core] fsmonitor = ./evil",
            "[core \"x\"]\nfilemode = true",
            "[core]\nbare = true",
            "[core]\nworktree = /",
            "[core]\nhooksPath = x",
            "[core]\nfilemode",
            "[core]\nfilemode = true \\\nfsmonitor = x",
            "[include]\npath = x",
            "[include \"x\"]\npath = x",
            "[remote \"a\"] fsmonitor = \"b\"]",
            "[remote \"origin\"]\nurl = ext::sh -c evil",
            "[remote \"origin\"]\nurl = ssh://-oProxyCommand=evil/x",
            "[remote \"origin\"]\nurl = -u:x",
            "[remote \"origin\"]\nurl = ../evil",
            "[remote \"origin\"]\nuploadpack = evil",
            "[remote.origin]\nurl = https://example.org",
            "[filter \"x\"]\nsmudge = evil",
            "[alias]\nst = !evil",
            "[core]\rfsmonitor = evil",
            "\u{feff}[core]\nfsmonitor = evil",
        ] {
            assert!(!is_plain_config(&format!("{PLAIN}{more}\n")), "{more}");
        }
    }
}
