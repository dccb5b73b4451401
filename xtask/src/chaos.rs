//! `cargo xtask chaos`: servers under random faults.

use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::cargo;
use crate::postgres::PrivateServer;

/// How long the faults last in the tests, all runs together.
pub(crate) const MINUTES_IN_TESTS: u64 = 2;

/// Reads the arguments of the task and runs it.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let minutes = match arguments {
        [] => MINUTES_IN_TESTS,
        [name, minutes] if name == "--minutes" => {
            minutes.parse().with_context(|| format!("{minutes:?} is no number of minutes"))?
        }
        _ => bail!("unknown arguments. Type: cargo xtask help"),
    };
    run_all(minutes, &PrivateServer::start()?)
}

/// Runs one to three servers on both engines, each for its part of the time. All of them run, also if
/// one fails.
pub(crate) fn run_all(minutes: u64, server: &PrivateServer) -> Result<()> {
    // With the whole workspace, as the tests are built: other features would compile it anew.
    cargo::run(&["build", "--workspace", "--all-targets"])?;
    let program = cargo::built_program("lango-chaos")?;
    let seconds = (minutes * 60 / 6).max(1).to_string();
    let mut failed = 0;
    for servers in 1..=3 {
        for postgres in [None, Some(server.url())] {
            let (count, seed) = (servers.to_string(), (minutes * 100 + servers).to_string());
            let mut command = Command::new(&program);
            command.args(["--seconds", &seconds, "--servers", &count, "--seed", &seed]);
            command.args(postgres.iter().flat_map(|url| ["--postgres", url]));
            failed += u32::from(cargo::check(&mut command).is_err());
        }
    }
    if failed > 0 {
        bail!("{failed} of 6 runs found something wrong");
    }
    Ok(())
}
