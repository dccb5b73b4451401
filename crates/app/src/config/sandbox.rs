//! The sandbox of commands: the keys of `[sandbox]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Confinement of commands.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct SandboxConfig {
    /// The level of confinement of commands. Where the machine cannot do it, they are refused.
    pub level: LevelName,
    /// true: commands can reach the network, and services on this machine.
    pub network: bool,
    /// Directories that commands may write to, beside the workspace.
    pub writable: Vec<String>,
    /// Places that commands cannot read, beside keys, passwords and Lango's own files.
    pub hidden: Vec<String>,
    /// Places in the workspace that commands cannot change, beside .git and the like.
    pub protected: Vec<String>,
    /// CPU time of each process.
    pub cpu_seconds: u64,
    /// Memory of a command.
    pub memory_megabytes: u64,
    /// Processes and threads of a command.
    pub processes: u64,
    /// Size of each file that a command writes.
    pub file_megabytes: u64,
    /// Parts of the sandbox that are taken for missing, to see what happens then.
    pub without: Vec<PartName>,
}

impl Default for SandboxConfig {
    fn default() -> Self {
        let limits = lango_sandbox::JobLimits::default();
        Self {
            level: LevelName::default(),
            network: false,
            writable: Vec::new(),
            hidden: Vec::new(),
            protected: Vec::new(),
            cpu_seconds: limits.cpu_seconds,
            memory_megabytes: limits.memory_bytes >> 20,
            processes: limits.processes,
            file_megabytes: limits.file_bytes >> 20,
            without: Vec::new(),
        }
    }
}

/// The level of confinement of commands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LevelName {
    /// As strongly as the machine can, but never not at all.
    #[default]
    Auto,
    /// By namespaces, Landlock and a filter of system calls.
    Bubblewrap,
    /// By Landlock and a filter of system calls.
    Landlock,
    /// Not at all: commands have all rights of the user.
    None,
}

/// A part of the sandbox.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PartName {
    /// The program that makes namespaces.
    Bubblewrap,
    /// Rules for files, in the kernel.
    Landlock,
    /// The filter of system calls.
    Seccomp,
    /// Control groups.
    Cgroup,
}
