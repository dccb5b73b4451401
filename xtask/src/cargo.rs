//! Running cargo, always from the root of the repository.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

/// The root of the repository.
pub(crate) fn root() -> Result<PathBuf> {
    // Asked at run time: a build directory that several checkouts share must not mix them up.
    let package = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    let root = package.parent().context("xtask has no parent directory")?;
    Ok(root.to_owned())
}

/// A cargo command that reads no input.
pub(crate) fn command(arguments: &[&str]) -> Result<Command> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(arguments).current_dir(root()?).stdin(Stdio::null());
    if let Some(directory) = target_directory(|name| std::env::var_os(name)) {
        command.env("CARGO_TARGET_DIR", directory);
    }
    Ok(command)
}

/// Returns the path of a program that [`command`] built, without optimisation.
pub(crate) fn built_program(name: &str) -> Result<PathBuf> {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    let directory = match target_directory(|name| std::env::var_os(name)) {
        Some(directory) => directory,
        None => set("CARGO_TARGET_DIR").map_or(root()?.join("target"), PathBuf::from),
    };
    Ok(directory.join("debug").join(name))
}

/// Runs cargo and fails where it fails.
pub(crate) fn run(arguments: &[&str]) -> Result<()> {
    check(&mut command(arguments)?)
}

/// Runs a command and fails where it fails.
pub(crate) fn check(command: &mut Command) -> Result<()> {
    let program = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("could not run {program}"))?;
    if !status.success() {
        bail!("{program} ended with {status}");
    }
    Ok(())
}

/// Runs a command and shows what it said only where it failed.
pub(crate) fn quietly(command: &mut Command) -> Result<()> {
    let output = command.stdin(Stdio::null()).output();
    let output =
        output.with_context(|| format!("could not run {}", command.get_program().display()))?;
    if !output.status.success() {
        let said = [output.stdout, output.stderr].concat();
        bail!("{}", String::from_utf8_lossy(&said).trim());
    }
    Ok(())
}

/// Returns whether cargo has this subcommand.
pub(crate) fn has_subcommand(name: &str) -> Result<bool> {
    let mut command = command(&[name, "--version"])?;
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    Ok(status.context("could not run cargo")?.success())
}

/// Returns the target directory, if not that which cargo would use. Checkouts of a continuous
/// integration are made anew each time; what was built for the last one is of use to the next.
fn target_directory(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    if set("CI").is_none_or(|value| value != "true") || set("CARGO_TARGET_DIR").is_some() {
        return None;
    }
    let cache = set("XDG_CACHE_HOME")
        .map(PathBuf::from)
        .or_else(|| set("HOME").map(|home| PathBuf::from(home).join(".cache")))?;
    Some(cache.join("lango-ci-target"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn directory(variables: &[(&str, &str)]) -> Option<PathBuf> {
        target_directory(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn only_a_continuous_integration_builds_outside_of_the_checkout() {
        assert_eq!(directory(&[("HOME", "/h")]), None);
        assert_eq!(directory(&[("CI", "false"), ("HOME", "/h")]), None);
        assert_eq!(
            directory(&[("CI", "true"), ("HOME", "/h")]).as_deref(),
            Some(Path::new("/h/.cache/lango-ci-target"))
        );
        assert_eq!(
            directory(&[("CI", "true"), ("HOME", "/h"), ("XDG_CACHE_HOME", "/c")]).as_deref(),
            Some(Path::new("/c/lango-ci-target"))
        );
        assert_eq!(directory(&[("CI", "true"), ("HOME", "/h"), ("CARGO_TARGET_DIR", "/t")]), None);
    }
}
