//! Programs that the tasks need beside cargo. What is missing is installed.

use anyhow::{Context as _, Result};

use crate::cargo;

/// The version that is installed where there is none.
const CARGO_DENY_VERSION: &str = "0.20.2";

/// Makes sure of `cargo fmt` and `cargo clippy`, which minimal toolchains lack.
pub(crate) fn ensure_components() -> Result<()> {
    for (subcommand, component) in [("fmt", "rustfmt"), ("clippy", "clippy")] {
        if !cargo::has_subcommand(subcommand)? {
            println!("cargo {subcommand} is missing: installing the component {component}");
            cargo::check(std::process::Command::new("rustup").args([
                "component",
                "add",
                component,
            ]))
            .with_context(|| format!("install {component} for this toolchain and try again"))?;
        }
    }
    Ok(())
}

/// Makes sure of `cargo deny`.
pub(crate) fn ensure_cargo_deny() -> Result<()> {
    if cargo::has_subcommand("deny")? {
        return Ok(());
    }
    println!("cargo-deny is missing: building it, which takes some minutes, once");
    cargo::run(&["install", "cargo-deny", "--locked", "--version", CARGO_DENY_VERSION])
}

/// Returns whether `cargo nextest` is there. It is used where it is, and not built where it is not:
/// it takes longer to build than it saves.
pub(crate) fn has_nextest() -> Result<bool> {
    cargo::has_subcommand("nextest")
}
