//! Limits how much the operator's tools may read, return and run.

use lango_keystore::{KeyStore, SecretHandles};
use lango_sandbox::{Sandbox, SandboxPolicy};

use crate::{Environment, Skills};

/// Holds the limits of the operator's tools and the environment of its commands.
#[derive(Debug, Clone)]
pub struct OperatorSettings {
    /// The size in bytes of the largest file that is read or written whole. Larger files are read
    /// by lines.
    pub max_file_bytes: u64,
    /// The most bytes of text that one `fs_read` returns.
    pub max_returned_bytes: usize,
    /// Lines that `fs_read` returns when the call names no limit.
    pub default_lines: u64,
    /// The most entries that one `fs_list` returns.
    pub max_list_entries: usize,
    /// The largest `depth` of `fs_list`.
    pub max_list_depth: u32,
    /// The most matches that one `fs_search` returns.
    pub max_search_matches: usize,
    /// The most files that one `fs_search` opens.
    pub max_search_files: usize,
    /// The most entries that one `fs_find` looks at.
    pub max_find_entries: usize,
    /// The bytes kept of each output stream of a command. The rest is counted and dropped.
    pub max_output_bytes: usize,
    /// The longest `timeout_seconds` of a command.
    pub max_timeout_seconds: u64,
    /// The environment variables of commands.
    pub environment: Environment,
    /// The sandbox that confines commands.
    pub sandbox: Sandbox,
    /// The policy on what commands may touch.
    pub policy: SandboxPolicy,
    /// The skills that are offered as `skill_…`.
    pub skills: Skills,
    /// The handles of secrets that commands get in their environment.
    pub handles: SecretHandles,
    /// The vault; its key encrypts recorded files that hold secrets.
    pub key_store: Option<KeyStore>,
}

impl Default for OperatorSettings {
    fn default() -> Self {
        Self {
            max_file_bytes: 10 * 1024 * 1024,
            max_returned_bytes: 256 * 1024,
            default_lines: 2000,
            max_list_entries: 1000,
            max_list_depth: 8,
            max_search_matches: 200,
            max_search_files: 100_000,
            max_find_entries: 1_000_000,
            max_output_bytes: 1024 * 1024,
            max_timeout_seconds: 600,
            environment: Environment::default(),
            sandbox: Sandbox::default(),
            policy: SandboxPolicy::default(),
            skills: Skills::default(),
            handles: SecretHandles::default(),
            key_store: None,
        }
    }
}
