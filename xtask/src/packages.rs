//! Packages of the system.

use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};

use crate::cargo::check;

/// Installs a package with apt-get, as root or by way of sudo.
pub(crate) fn install(package: &str) -> Result<()> {
    apt_get(&["update"])?;
    apt_get(&["install", "-y", "--no-install-recommends", package])
}

/// Whether this is root.
pub(crate) fn is_root() -> Result<bool> {
    let output = Command::new("id").arg("-u").output().context("could not run id")?;
    Ok(output.stdout.trim_ascii() == b"0")
}

fn apt_get(arguments: &[&str]) -> Result<()> {
    let as_root = is_root()?;
    let mut command = Command::new(if as_root { "apt-get" } else { "sudo" });
    if !as_root {
        command.args(["--preserve-env=DEBIAN_FRONTEND", "apt-get"]);
    }
    check(command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null()))
}
