//! Defines the levels of confinement, and the required one.

use std::fmt;

use crate::capabilities::{Capabilities, MIN_LANDLOCK_ABI};
use crate::error::SandboxError;

/// The strength of confinement, the strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConfinementLevel {
    /// Own namespaces by bubblewrap; a system call filter and Landlock inside.
    Bubblewrap,
    /// Landlock and a system call filter, among the other processes of the machine.
    Landlock,
    /// Limits only; otherwise the rights of the user.
    None,
}

impl fmt::Display for ConfinementLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Bubblewrap => "bubblewrap",
            Self::Landlock => "landlock",
            Self::None => "none",
        })
    }
}

/// The level that the configuration requires.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LevelRequirement {
    /// The strongest available level, but never [`ConfinementLevel::None`].
    #[default]
    Auto,
    /// Exactly this level.
    Exactly(ConfinementLevel),
}

impl fmt::Display for LevelRequirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str("auto"),
            Self::Exactly(level) => level.fmt(f),
        }
    }
}

impl LevelRequirement {
    /// Returns the level on a machine with these capabilities.
    ///
    /// Only an explicit `none` disables confinement: if the required level is not available,
    /// nothing runs.
    pub fn level(self, capabilities: &Capabilities) -> Result<ConfinementLevel, SandboxError> {
        let obstacle = |level| find_obstacle(level, capabilities);
        let found = match self {
            Self::Auto => [ConfinementLevel::Bubblewrap, ConfinementLevel::Landlock]
                .into_iter()
                .find(|level| obstacle(*level).is_none()),
            Self::Exactly(level) => Some(level).filter(|level| obstacle(*level).is_none()),
        };
        found.ok_or_else(|| {
            let obstacles = match self {
                Self::Auto => [ConfinementLevel::Bubblewrap, ConfinementLevel::Landlock].map(obstacle).to_vec(),
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

/// Returns why a level is not available, and what to type.
fn find_obstacle(level: ConfinementLevel, capabilities: &Capabilities) -> Option<String> {
    let seccomp = capabilities
        .seccomp
        .as_ref()
        .err()
        .map(|reason| format!("The system call filter (seccomp) is missing: {reason}"));
    match level {
        ConfinementLevel::Bubblewrap => capabilities
            .bubblewrap
            .as_ref()
            .err()
            .map(|reason| format!("bubblewrap is missing: {reason}"))
            .or(seccomp),
        ConfinementLevel::Landlock => match &capabilities.landlock {
            Err(reason) => Some(format!("Landlock is missing: {reason}")),
            Ok(abi) if *abi < MIN_LANDLOCK_ABI => Some(format!(
                "Landlock is too old: ABI {abi}, and {MIN_LANDLOCK_ABI} is needed (Linux 6.2)"
            )),
            Ok(_) => seccomp,
        },
        ConfinementLevel::None => None,
    }
}
