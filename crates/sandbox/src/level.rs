//! The named steps of confinement, and which of them is asked for.

use std::fmt;

use crate::capabilities::{Capabilities, LANDLOCK_NEEDED};
use crate::error::SandboxError;

/// How strongly a job is confined, the strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// Namespaces of its own by bubblewrap; a system call filter and Landlock inside.
    Bubblewrap,
    /// Landlock and a system call filter, among the other processes of the machine.
    Landlock,
    /// Limits only; otherwise the rights of the user.
    None,
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bubblewrap => "bubblewrap",
            Self::Landlock => "landlock",
            Self::None => "none",
        })
    }
}

/// What the configuration asks for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Requirement {
    /// The strongest level that is there, but never [`Level::None`].
    #[default]
    Auto,
    /// Exactly this level.
    Exactly(Level),
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Exactly(level) => level.fmt(f),
        }
    }
}

impl Requirement {
    /// The level that is in force on a machine with these capabilities.
    ///
    /// Only a person who asks for `none` gets it: where more is asked for than is there, nothing
    /// runs.
    pub fn level(self, capabilities: &Capabilities) -> Result<Level, SandboxError> {
        let obstacle = |level| obstacle(level, capabilities);
        let found = match self {
            Self::Auto => [Level::Bubblewrap, Level::Landlock]
                .into_iter()
                .find(|level| obstacle(*level).is_none()),
            Self::Exactly(level) => Some(level).filter(|level| obstacle(*level).is_none()),
        };
        found.ok_or_else(|| {
            let obstacles = match self {
                Self::Auto => [Level::Bubblewrap, Level::Landlock].map(obstacle).to_vec(),
                Self::Exactly(level) => vec![obstacle(level)],
            };
            let mut missing: Vec<String> = Vec::new();
            for text in obstacles.into_iter().flatten() {
                if !missing.contains(&text) {
                    missing.push(text);
                }
            }
            let missing = format!(
                "{}. To run commands without confinement all the same: lango config set sandbox.level none",
                missing.join(". ")
            );
            SandboxError::Unavailable { asked: self, missing }
        })
    }
}

/// Why a level is not there, and what to type.
fn obstacle(level: Level, capabilities: &Capabilities) -> Option<String> {
    let seccomp = capabilities
        .seccomp
        .as_ref()
        .err()
        .map(|reason| format!("The system call filter (seccomp) is missing: {reason}"));
    match level {
        Level::Bubblewrap => capabilities
            .bubblewrap
            .as_ref()
            .err()
            .map(|reason| format!("bubblewrap is missing: {reason}"))
            .or(seccomp),
        Level::Landlock => match &capabilities.landlock {
            Err(reason) => Some(format!("Landlock is missing: {reason}")),
            Ok(abi) if *abi < LANDLOCK_NEEDED => Some(format!(
                "Landlock is too old: ABI {abi}, and {LANDLOCK_NEEDED} is needed (Linux 6.2)"
            )),
            Ok(_) => seccomp,
        },
        Level::None => None,
    }
}
