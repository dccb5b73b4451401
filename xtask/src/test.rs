//! `cargo xtask test`: everything that must hold, in one command.

use anyhow::{Result, bail};

use crate::glossary::Strictness;
use crate::postgres::{PrivateServer, URL_VARIABLE};
use crate::steps::Steps;
use crate::{cargo, chaos, glossary, packages, peers, tools};

/// The consequence of replaced words: none may come back.
const REPLACED_WORDS: Strictness = Strictness::Deny;

/// The choice of what to run.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Options {
    fast: bool,
    filters: Vec<String>,
}

impl Options {
    /// Reads the arguments of the task.
    pub(crate) fn parse(arguments: &[String]) -> Result<Self> {
        let mut options = Self::default();
        for argument in arguments {
            match argument.as_str() {
                "--fast" => options.fast = true,
                "--" => {}
                flag if flag.starts_with('-') => {
                    bail!("unknown option {flag:?}. Type: cargo xtask help")
                }
                _ => options.filters.push(argument.clone()),
            }
        }
        Ok(options)
    }
}

/// Runs the steps, and prints what each took, whether or not all succeed.
pub(crate) fn run(options: &Options) -> Result<()> {
    let mut steps = Steps::default();
    let result = all(options, &mut steps);
    println!("{}", steps.summary());
    result
}

fn all(options: &Options, steps: &mut Steps) -> Result<()> {
    if !options.fast {
        tools::ensure_components()?;
        cargo_step(steps, "format", &["fmt", "--all", "--check"])?;
        let clippy = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
        cargo_step(steps, "lints", &clippy)?;
        // Uses what the lints compiled of other libraries: some 10 s of CPU time after a change of
        // the crates that an agent uses, 1 s otherwise.
        let template = "cargo xtask check-agent-template";
        steps.take("agent template", template, crate::new_agent::check)?;
    }
    steps.take("dependencies", "cargo xtask check-dependencies", crate::check_dependencies)?;
    steps.take("documents", "cargo xtask check-documents", crate::check_documents)?;
    steps.take("sizes", "cargo xtask check-sizes", crate::check_sizes)?;
    steps.take("words", "cargo xtask words", || glossary::summarise(REPLACED_WORDS))?;
    tests(options, steps)?;
    if !options.fast {
        steps.take(
            "documentation",
            "RUSTDOCFLAGS=\"-D warnings\" cargo doc --workspace --no-deps",
            || {
                let mut doc = cargo::command(&["doc", "--workspace", "--no-deps"])?;
                cargo::check(doc.env("RUSTDOCFLAGS", "-D warnings"))
            },
        )?;
        // Advisories are looked up in a database on the network, which the tests must not need,
        // and change without a change of ours: `cargo xtask deny-advisories` asks for them.
        let deny = ["deny", "check", "bans", "licenses", "sources"];
        steps.take("licences and bans", &typed(&deny), || {
            tools::ensure_cargo_deny()?;
            cargo::run(&deny)
        })?;
    }
    Ok(())
}

fn cargo_step(steps: &mut Steps, name: &'static str, arguments: &[&str]) -> Result<()> {
    steps.take(name, &typed(arguments), || cargo::run(arguments))
}

/// A cargo command as a person types it.
fn typed(arguments: &[&str]) -> String {
    format!("cargo {}", arguments.join(" "))
}

/// The tests, on SQLite and on a PostgreSQL server of our own.
fn tests(options: &Options, steps: &mut Steps) -> Result<()> {
    packages::ensure_bubblewrap()?;
    packages::ensure_chromium()?;
    packages::ensure_faketime()?;
    packages::ensure_desktop()?;
    let peers = steps.take("peers", "cargo xtask peers", peers::ensure)?;
    let start = "cargo xtask postgres -- true";
    let server = steps.take("PostgreSQL server", start, PrivateServer::start)?;
    let filters: Vec<&str> = options.filters.iter().map(String::as_str).collect();
    let mut step = |name, arguments: &[&str]| {
        let arguments = [arguments, &filters].concat();
        let repeat = format!("cargo xtask postgres -- {}", typed(&arguments));
        steps.take(name, &repeat, || {
            let mut command = cargo::command(&arguments)?;
            command.env(URL_VARIABLE, server.url());
            cargo::check(command.env(peers::DIRECTORY_VARIABLE, peers.directory()))
        })
    };
    if !tools::has_nextest()? {
        // Runs the examples in the documentation too.
        return step("tests", &["test", "--workspace", "--no-fail-fast", "--"]);
    }
    step("tests", &["nextest", "run", "--workspace", "--no-fail-fast"])?;
    if options.fast {
        return Ok(());
    }
    step("examples in documentation", &["test", "--workspace", "--doc", "--"])?;
    steps.take("random faults", "cargo xtask chaos", || {
        chaos::run_all(chaos::MINUTES_IN_TESTS, &server)
    })?;
    steps.take("workers under faults", "cargo xtask chaos --automation", || {
        chaos::run_automation(chaos::AUTOMATION_SECONDS_IN_TESTS, &[2], &server)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_and_filters_are_told_apart() {
        let parse = |words: &[&str]| {
            Options::parse(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>())
        };
        let options = parse(&["claims", "--fast", "r12_"]).unwrap();
        assert!(options.fast);
        assert_eq!(options.filters, ["claims", "r12_"]);
        assert_eq!(parse(&[]).unwrap(), Options::default());
        assert!(parse(&["--quick"]).is_err());
    }
}
