//! How much the operator's tools may read, return and run.

use lango_sandbox::{Policy, Sandbox};

use crate::{Environment, Skills};

/// The limits of the operator's tools, and the surroundings of its commands.
#[derive(Debug, Clone)]
pub struct OperatorSettings {
    /// Bytes of the largest file that is read or written whole. Larger files are read by lines.
    pub largest_file: u64,
    /// Bytes of text that one `fs_read` returns at most.
    pub returned_bytes: usize,
    /// Lines that `fs_read` returns when the call names no limit.
    pub default_lines: u64,
    /// Entries that one `fs_list` returns at most.
    pub list_entries: usize,
    /// The deepest `depth` of `fs_list`.
    pub list_depth: u32,
    /// Matches that one `fs_search` returns at most.
    pub search_matches: usize,
    /// Files that one `fs_search` opens at most.
    pub search_files: usize,
    /// Bytes kept of each output stream of a command. The rest is counted and dropped.
    pub output_bytes: usize,
    /// The longest `timeout_seconds` of a command.
    pub longest_timeout_seconds: u64,
    /// What commands see of the environment.
    pub environment: Environment,
    /// What confines commands.
    pub sandbox: Sandbox,
    /// What commands may touch.
    pub policy: Policy,
    /// What is offered as `skill_…`.
    pub skills: Skills,
}

impl Default for OperatorSettings {
    fn default() -> Self {
        Self {
            largest_file: 10 * 1024 * 1024,
            returned_bytes: 256 * 1024,
            default_lines: 2000,
            list_entries: 1000,
            list_depth: 8,
            search_matches: 200,
            search_files: 100_000,
            output_bytes: 1024 * 1024,
            longest_timeout_seconds: 600,
            environment: Environment::default(),
            sandbox: Sandbox::default(),
            policy: Policy::default(),
            skills: Skills::default(),
        }
    }
}
