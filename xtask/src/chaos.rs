//! `cargo xtask chaos`: servers and workers under random faults.

use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::cargo;
use crate::postgres::PrivateServer;

/// How long the faults last in the tests, all runs of servers together.
pub(crate) const MINUTES_IN_TESTS: u64 = 2;
/// How long the faults of each run of workers last in the tests.
pub(crate) const AUTOMATION_SECONDS_IN_TESTS: u64 = 30;

/// Reads the arguments of the task and runs it.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let is_automation = arguments.iter().any(|argument| argument == "--automation");
    let rest: Vec<&str> =
        arguments.iter().map(String::as_str).filter(|word| *word != "--automation").collect();
    let minutes: Option<u64> = match rest.as_slice() {
        [] => None,
        ["--minutes", minutes] => {
            let parsed = minutes.parse();
            Some(parsed.with_context(|| format!("{minutes:?} is no number of minutes"))?)
        }
        _ => bail!("unknown arguments. Type: cargo xtask help"),
    };
    let server = PrivateServer::start()?;
    if is_automation {
        let seconds = minutes.map_or(AUTOMATION_SECONDS_IN_TESTS, |minutes| minutes * 60);
        return run_automation(seconds, &[2, 5], &server);
    }
    run_all(minutes.unwrap_or(MINUTES_IN_TESTS), &server)
}

/// Runs one to three servers on both engines, each for its part of the time. All of them run, also if
/// one fails.
pub(crate) fn run_all(minutes: u64, server: &PrivateServer) -> Result<()> {
    let program = build()?;
    let seconds = (minutes * 60 / 6).max(1);
    let mut runs = Vec::new();
    for servers in 1..=3 {
        for postgres in [None, Some(server.url())] {
            let mut command = Command::new(&program);
            let seed = minutes * 100 + servers;
            command.args(arguments(seconds, servers, seed, postgres.as_deref()));
            runs.push(command);
        }
    }
    check_all(runs)
}

/// Runs so many workers on both engines, each for this time.
pub(crate) fn run_automation(seconds: u64, counts: &[u64], server: &PrivateServer) -> Result<()> {
    let program = build()?;
    let mut runs = Vec::new();
    for workers in counts {
        for postgres in [None, Some(server.url())] {
            let mut command = Command::new(&program);
            command.arg("--automation").args(arguments(
                seconds,
                *workers,
                *workers,
                postgres.as_deref(),
            ));
            runs.push(command);
        }
    }
    check_all(runs)
}

fn build() -> Result<std::path::PathBuf> {
    // With the whole workspace, as the tests are built: other features would compile it anew.
    cargo::run(&["build", "--workspace", "--all-targets"])?;
    cargo::built_program("lango-chaos")
}

fn arguments(seconds: u64, count: u64, seed: u64, postgres: Option<&str>) -> Vec<String> {
    let number = |name: &str, value: u64| [name.to_owned(), value.to_string()];
    let mut arguments = number("--seconds", seconds).to_vec();
    arguments.extend(number("--servers", count));
    arguments.extend(number("--seed", seed));
    arguments.extend(postgres.iter().flat_map(|url| ["--postgres".to_owned(), (*url).to_owned()]));
    arguments
}

fn check_all(runs: Vec<Command>) -> Result<()> {
    let count = runs.len();
    let failed =
        runs.into_iter().filter_map(|mut command| cargo::check(&mut command).err()).count();
    if failed > 0 {
        bail!("{failed} of {count} runs found something wrong");
    }
    Ok(())
}
