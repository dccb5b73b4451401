//! Builds the sandbox of commands from the configuration.

use std::path::{Path, PathBuf};

use lango_places::{Places, PlacesSettings};
use lango_sandbox::{
    ConfinementLevel, JobLimits, LevelRequirement, NetworkAccess, Sandbox, SandboxPart,
    SandboxPolicy,
};
use lango_store::DatabaseLocation;

use crate::AppError;
use crate::config::{Config, LevelName, PartName};
use crate::home::{self, Home};
use crate::vault::session_directory;

/// Returns the sandbox that confines commands.
pub fn build_sandbox(config: &Config) -> Sandbox {
    let requirement = match config.sandbox.level {
        LevelName::Auto => LevelRequirement::Auto,
        LevelName::Bubblewrap => LevelRequirement::Exactly(ConfinementLevel::Bubblewrap),
        LevelName::Landlock => LevelRequirement::Exactly(ConfinementLevel::Landlock),
        LevelName::None => LevelRequirement::Exactly(ConfinementLevel::None),
    };
    let part = |part: &PartName| match part {
        PartName::Bubblewrap => SandboxPart::Bubblewrap,
        PartName::Landlock => SandboxPart::Landlock,
        PartName::Seccomp => SandboxPart::Seccomp,
        PartName::Cgroup => SandboxPart::Cgroup,
    };
    let without = config.sandbox.without.iter().map(part).collect();
    Sandbox { requirement, without, helper: None }
}

/// Returns the policy that says what commands may access in a workspace.
pub fn build_sandbox_policy(
    config: &Config,
    home: &Home,
    workspace: &Path,
) -> Result<SandboxPolicy, AppError> {
    let given = &config.sandbox;
    let user = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from);
    let writable = expand_paths("writable", &given.writable)?;
    let mut protected = expand_paths("protected", &given.protected)?;
    protected.extend(lango_places::list_paths_named_by_git(workspace));
    let places = Places::new(PlacesSettings {
        home: user.clone(),
        own: list_own_files(config, home),
        hidden: expand_paths("hidden", &given.hidden)?,
        protected,
        instructions: list_instruction_directories(config),
        roots: absolute_paths([workspace.to_owned()].into_iter().chain(writable.clone())),
    });
    Ok(SandboxPolicy {
        writable,
        places,
        home: user,
        network: if given.network { NetworkAccess::On } else { NetworkAccess::Off },
        limits: JobLimits {
            cpu_seconds: given.cpu_seconds.max(1),
            memory_bytes: given.memory_megabytes.clamp(1, u64::MAX >> 20) << 20,
            processes: given.processes.max(1),
            file_bytes: given.file_megabytes.clamp(1, u64::MAX >> 20) << 20,
            ..JobLimits::default()
        },
    })
}

/// Returns a warning about a workspace that contains the user's home.
pub fn warn_about_workspace(workspace: &Path) -> Option<String> {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)?;
    contains_home(workspace, &home).then(|| {
        format!(
            "the workspace {} contains your home: agents can read and change most of your files, all \
             but keys, start-up files and the like. Work in a directory of its own: cd DIRECTORY, or \
             --workspace DIRECTORY",
            workspace.display()
        )
    })
}

/// Tells whether a canonical path is the home or lies above it.
fn contains_home(workspace: &Path, home: &Path) -> bool {
    home.canonicalize().is_ok_and(|home| home.starts_with(workspace))
}

fn expand_paths(key: &str, given: &[String]) -> Result<Vec<PathBuf>, AppError> {
    let one = |path: &String| {
        home::expand_path(path).map_err(|error| AppError::usage(format!("sandbox.{key}: {error}")))
    };
    given.iter().map(one).collect()
}

/// Returns the files with keys and sign-ins that the configuration names.
fn list_configured_secrets(config: &Config) -> impl Iterator<Item = PathBuf> {
    let server = &config.server;
    let named =
        [&server.token_file, &server.card_key, &config.navigator.profile, &config.vault.key_file];
    // A path that leads nowhere is refused where it is used.
    named.into_iter().flatten().filter_map(|path| home::expand_path(path).ok())
}

/// Returns the directories with instructions for agents.
fn list_instruction_directories(config: &Config) -> Vec<PathBuf> {
    let agent = &config.agent;
    let topology = Some(PathBuf::from(&agent.topology)).filter(|path| path.is_dir());
    let places = [topology, agent.agents_dir.clone(), agent.prompts_dir.clone()];
    absolute_paths(places.into_iter().flatten())
}

/// Returns the paths of Lango's own files: configuration, journal, keys, profiles.
fn list_own_files(config: &Config, home: &Home) -> Vec<PathBuf> {
    let mut places =
        vec![home.config_directory.clone(), home.data.clone(), home.config_file.clone()];
    places.push(session_directory(home));
    places.extend(list_configured_secrets(config));
    if let Some(Ok(DatabaseLocation::Sqlite(file))) =
        config.database.url.as_ref().map(|u| u.parse())
    {
        for suffix in ["", "-wal", "-shm", "-journal"] {
            let mut name = file.clone().into_os_string();
            name.push(suffix);
            places.push(name.into());
        }
    }
    absolute_paths(places)
}

/// Returns paths as absolute ones. That fails only if the current directory is gone, and then a
/// relative path leads nowhere.
fn absolute_paths(paths: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    paths.into_iter().filter_map(|path| std::path::absolute(path).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_workspace_contains_the_home_by_any_name() {
        let directory = tempfile::tempdir().unwrap();
        let top = directory.path().canonicalize().unwrap();
        std::fs::create_dir_all(top.join("users/me/project")).unwrap();
        std::os::unix::fs::symlink(top.join("users"), top.join("home")).unwrap();
        let home = top.join("home/me");
        for workspace in ["users/me", "users", ""] {
            assert!(contains_home(&top.join(workspace).components().collect::<PathBuf>(), &home));
        }
        for workspace in ["users/me/project", "users/m", "users/me2"] {
            assert!(!contains_home(&top.join(workspace), &home), "{workspace}");
        }
    }
}
