//! `cargo xtask bench`.

use anyhow::Result;

use crate::cargo;

/// The benchmark that is run when none is named.
const DEFAULT: &str = "turn";

/// Builds the binary and the benchmarks as they are published, then runs one.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    // Benchmarks of start-up and memory measure the binary itself.
    cargo::run(&["build", "--profile", "dist", "-p", "lango"])?;
    let mut command = vec!["run", "--profile", "dist", "-p", "lango-bench", "--"];
    if arguments.is_empty() {
        command.push(DEFAULT);
    }
    command.extend(arguments.iter().map(String::as_str));
    cargo::run(&command)
}
