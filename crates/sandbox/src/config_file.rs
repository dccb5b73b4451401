//! Tells whether the configuration of a repository has only keys that plain git writes, none of which
//! names a program.

use std::collections::BTreeSet;

/// Tells whether every line is a section or a key that plain git writes. What this does not
/// understand, such as quotes and continued lines, is not plain.
pub(crate) fn is_plain_config(text: &str) -> bool {
    has_plain_additions("", text)
}

/// Tells whether a configuration differs from an earlier one only by lines that plain git writes, or
/// that are gone.
pub(crate) fn has_plain_additions(before: &str, after: &str) -> bool {
    let known: BTreeSet<(&str, &str)> = list_lines(before).collect();
    list_lines(after).filter(|line| !known.contains(line)).all(|(heading, line)| {
        if line.chars().any(char::is_control) {
            return false;
        }
        if line.is_empty() || line.starts_with(['#', ';']) {
            return true;
        }
        let Some(section) = ConfigSection::parse(heading) else { return false };
        if line.starts_with('[') {
            return true;
        }
        let pair = line.split_once('=');
        pair.is_some_and(|(key, value)| section.takes(key.trim(), value.trim()))
    })
}

/// Returns the lines, each with the heading of its section. The heading belongs to itself.
fn list_lines(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split('\n').scan("", |heading, line| {
        let line = line.trim_matches([' ', '\t']);
        if line.starts_with('[') {
            *heading = line;
        }
        Some((*heading, line))
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
            // Editors record which branch another one was made from.
            ("branch", true, "remote" | "vscode-merge-base") => {
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
    fn a_line_is_known_in_its_section_alone() {
        let before = format!("{PLAIN}[submodule \"a\"]\n\tpath = sub/a\n[core]\n\teditor = vim\n");
        assert!(has_plain_additions(&before, &before));
        assert!(has_plain_additions(
            &before,
            &format!("{before}[branch \"x\"]\nremote = origin\n")
        ));
        assert!(has_plain_additions(&before, PLAIN), "a line that is gone");
        for more in
            ["[include]\n\tpath = sub/a", "[core]\n\tpager = vim", "[alias]\n\teditor = vim"]
        {
            assert!(!has_plain_additions(&before, &format!("{before}{more}\n")), "{more}");
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
