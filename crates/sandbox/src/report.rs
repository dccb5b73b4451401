//! Describes the sandbox: for the user who approves, for `lango doctor`, and after a command that
//! failed because of it.

use std::path::Path;

use lango_protocol::{Right, Rights};

use crate::cgroup::Hierarchies;
use crate::error::SandboxError;
use crate::job::{JobLimits, NetworkAccess};
use crate::level::ConfinementLevel;
use crate::policy::SandboxPolicy;
use crate::rights::GrantedRight;
use crate::sandbox::Sandbox;

/// The description of the active sandbox.
#[derive(Debug)]
pub struct SandboxReport {
    /// The level, or the reason why every command is refused.
    pub level: Result<ConfinementLevel, SandboxError>,
    /// The parts, one per line: available ones and missing ones.
    pub parts: Vec<String>,
    /// True if a missing part would make it stronger.
    pub is_weaker_than_it_could_be: bool,
}

impl Sandbox {
    /// Describes the active sandbox in full.
    pub fn report(&self, policy: &SandboxPolicy) -> SandboxReport {
        let capabilities = self.capabilities();
        let part = |name: &str, found: Result<String, &String>| match found {
            Ok(found) => format!("{name}: {found}"),
            Err(reason) => format!("{name}: missing; {reason}"),
        };
        let level = self.level();
        let mut parts = vec![
            part(
                "bubblewrap",
                capabilities.bubblewrap.as_ref().map(|path| path.display().to_string()),
            ),
            part("Landlock", capabilities.landlock.as_ref().map(|abi| format!("ABI {abi}"))),
            part(
                "system call filter",
                capabilities.seccomp.as_ref().map(|()| "seccomp".to_owned()),
            ),
            part("control groups", capabilities.cgroup.as_ref().map(|_| "can be made".to_owned())),
        ];
        let network = match policy.network {
            NetworkAccess::Off => "none",
            NetworkAccess::On => "that of the machine (sandbox.network)",
        };
        parts.push(format!("network: {network}"));
        // The limits are described without control groups, where there are none.
        let group = capabilities.cgroup.as_ref().ok();
        parts.push(format!("limits: {}", describe_limits(&policy.limits, group)));
        if matches!(level, Ok(ConfinementLevel::Landlock)) {
            parts.push(
                "at this level no new name can be made at the top of the workspace; \
                 bubblewrap allows it: apt install bubblewrap"
                    .to_owned(),
            );
        }
        let is_weaker_than_it_could_be = !matches!(level, Ok(ConfinementLevel::Bubblewrap))
            || capabilities.landlock.is_err()
            || capabilities.cgroup.is_err();
        SandboxReport { level, parts, is_weaker_than_it_could_be }
    }

    /// Describes the active sandbox in one line, for a user who decides about a command.
    pub fn describe_in_one_line(
        &self,
        policy: &SandboxPolicy,
        workspace: &Path,
        rights: &[GrantedRight],
    ) -> String {
        let level = match self.level() {
            Err(error) => return format!("will be refused: {error}"),
            Ok(ConfinementLevel::None) => {
                return "NOT confined: it has all your rights (sandbox.level is none)".to_owned();
            }
            Ok(level) => level,
        };
        let has_network =
            policy.network == NetworkAccess::On || rights.contains(&GrantedRight::Network);
        let network = if has_network { "with network" } else { "no network" };
        let granted = rights.iter().filter_map(|right| match right {
            GrantedRight::Directory(path) | GrantedRight::Repository(path) => Some(path.as_path()),
            GrantedRight::Network | GrantedRight::NewRepository(_) => None,
        });
        let places: Vec<String> = std::iter::once(workspace)
            .chain(policy.writable.iter().map(std::path::PathBuf::as_path))
            .chain(granted)
            .map(|place| place.display().to_string())
            .collect();
        format!("confined by {level}; {network}; may write to {}", places.join(", "))
    }
}

fn describe_limits(limits: &JobLimits, group: Option<&Hierarchies>) -> String {
    let together = |is_together: bool| if is_together { "together" } else { "each" };
    let processes = match group {
        Some(_) => "",
        None if rustix::process::getuid().is_root() => {
            " (not enforced: root without control groups)"
        }
        None => " (of the user)",
    };
    format!(
        "{} processes{processes}, {} MB of memory {}, {} s of CPU time each, {} MB for each file",
        limits.processes,
        limits.memory_bytes >> 20,
        together(group.is_some_and(Hierarchies::limits_memory)),
        limits.cpu_seconds,
        limits.file_bytes >> 20
    )
}

/// Texts of commands that were refused something, with the likely cause.
const REFUSAL_TEXTS: [(&str, FailureCause); 17] = [
    ("read-only file system", FailureCause::Files),
    ("permission denied", FailureCause::Files),
    ("operation not permitted", FailureCause::Files),
    ("invalid cross-device link", FailureCause::Files),
    ("device or resource busy", FailureCause::Files),
    ("network is unreachable", FailureCause::Network),
    ("could not resolve", FailureCause::Network),
    ("couldn't resolve", FailureCause::Network),
    ("name resolution", FailureCause::Network),
    ("name or service not known", FailureCause::Network),
    ("no route to host", FailureCause::Network),
    ("getaddrinfo", FailureCause::Network),
    ("cannot fork", FailureCause::Limits),
    ("resource temporarily unavailable", FailureCause::Limits),
    ("cannot allocate memory", FailureCause::Limits),
    ("out of memory", FailureCause::Limits),
    ("file size limit exceeded", FailureCause::Limits),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FailureCause {
    Files,
    Network,
    Limits,
}

impl Sandbox {
    /// Returns a note for a command that failed with these errors, if the sandbox may be the cause.
    /// `rights` are those that it had, if it could have asked for more.
    pub fn note(
        &self,
        policy: &SandboxPolicy,
        rights: Option<&Rights>,
        errors: &str,
    ) -> Option<String> {
        // Without a level no command ran, so none failed because of it.
        let level = self.level().ok().filter(|level| *level != ConfinementLevel::None)?;
        let errors = errors.to_lowercase();
        let has = |right: &Right| rights.is_some_and(|rights| rights.contains(right));
        let has_network = policy.network == NetworkAccess::On || has(&Right::Network);
        let (_, cause) = REFUSAL_TEXTS.iter().find(|(words, cause)| {
            errors.contains(words) && !(*cause == FailureCause::Network && has_network)
        })?;
        let note = match (cause, level) {
            (FailureCause::Network, _) => "the sandbox has no network",
            (FailureCause::Limits, _) => {
                "the sandbox limits processes, memory and the size of files"
            }
            (FailureCause::Files, ConfinementLevel::Landlock) => {
                "the sandbox lets commands write only to what already exists in the workspace and \
                 below its directories, to $TMPDIR, never to .git and the like; fs_write can make \
                 a new file at the top; there is no network unless granted"
            }
            (FailureCause::Files, _) => {
                "the sandbox lets commands write only to the workspace and $TMPDIR, never to .git \
                 and the like, and has no network unless granted"
            }
        };
        let missing = rights.and_then(|_| match (cause, level) {
            (FailureCause::Network, _) => Some("network"),
            (FailureCause::Files, ConfinementLevel::Bubblewrap) if errors.contains(".git") => {
                Some("git").filter(|_| !has(&Right::Git))
            }
            _ => None,
        });
        Some(match missing {
            Some(right) => format!(
                "{note}. If the task needs it, call again with rights [\"{right}\"]: the user is asked"
            ),
            None => note.to_owned(),
        })
    }
}
