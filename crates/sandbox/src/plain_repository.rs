//! Tells whether a repository that a job made is as plain git makes it: nothing in it names a program.

use std::fs;
use std::path::Path;

use crate::config_file::is_plain_config;
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
pub fn is_plain_repository(path: &Path) -> bool {
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
