//! Builds the environment of commands.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};

/// Lists the variables that commands inherit. Full names only: a pattern could let a key through.
const INHERITED_VARIABLES: [&str; 19] = [
    "HOME",
    "LANG",
    "LANGUAGE",
    "LC_ADDRESS",
    "LC_ALL",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_IDENTIFICATION",
    "LC_MEASUREMENT",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NAME",
    "LC_NUMERIC",
    "LC_PAPER",
    "LC_TELEPHONE",
    "LC_TIME",
    "TMPDIR",
    "TZ",
    "USER",
];

/// Holds the environment of commands: a short list of harmless variables, never keys.
///
/// Everything else is dropped when this is built, so a value of this type holds no secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<OsString, OsString>,
}

impl Environment {
    /// Keeps what commands may inherit from a parent's environment.
    pub fn from_parent(parent: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        let mut variables: BTreeMap<OsString, OsString> =
            [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("SHELL", "/bin/sh")]
                .map(|(name, value)| (name.into(), value.into()))
                .into();
        variables.extend(parent.into_iter().filter(|(name, _)| is_inherited(name)));
        // The output is not shown on a terminal: no colours, no cursor movement.
        variables.insert("TERM".into(), "dumb".into());
        Self { variables }
    }

    /// Returns the variables, by name.
    pub fn variables(&self) -> impl Iterator<Item = (&OsStr, &OsStr)> {
        self.variables.iter().map(|(name, value)| (name.as_os_str(), value.as_os_str()))
    }
}

impl Default for Environment {
    /// Starts from the environment of this process.
    fn default() -> Self {
        Self::from_parent(std::env::vars_os())
    }
}

fn is_inherited(name: &OsStr) -> bool {
    ["PATH", "SHELL"].iter().chain(&INHERITED_VARIABLES).any(|passed| name == *passed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_short_list_passes() {
        let parent = [
            ("PATH", "/bin"),
            ("HOME", "/home/me"),
            ("LC_ALL", "C.UTF-8"),
            ("LC_API_KEY", "secret"),
            ("LANGO_TOKEN", "secret"),
            ("OPENAI_API_KEY", "secret"),
            ("DATABASE_URL", "secret"),
            ("LD_PRELOAD", "secret"),
            ("TERM", "xterm"),
        ]
        .map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let environment = Environment::from_parent(parent);
        let names: Vec<_> =
            environment.variables().map(|(name, value)| format!("{name:?}={value:?}")).collect();
        assert_eq!(
            names.join(" "),
            r#""HOME"="/home/me" "LC_ALL"="C.UTF-8" "PATH"="/bin" "SHELL"="/bin/sh" "TERM"="dumb""#
        );
    }
}
