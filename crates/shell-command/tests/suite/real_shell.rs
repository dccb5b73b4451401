//! Compares the reading with real shells: every program they run was a step, with the same words.
//!
//! The programs are stubs that record how they were called. No other program can be found, so a
//! wrong reading does no harm.

use std::cell::Cell;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use lango_shell_command::{CommandReading, CommandStep, read_command};
use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};
use tempfile::TempDir;

use super::generate::{PROGRAMS, any_text, composition};

/// Lists programs that run others, as they are on this machine.
const REAL_PROGRAMS: [&str; 9] =
    ["env", "nice", "timeout", "nohup", "sh", "bash", "find", "setsid", "stdbuf"];

struct StubDirectory {
    directory: TempDir,
    shells: Vec<PathBuf>,
}

impl StubDirectory {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        for name in ["bin", "calls", "work/d"] {
            fs::create_dir_all(directory.path().join(name)).unwrap();
        }
        for name in ["f1", "f2", "-x", "a"] {
            fs::write(directory.path().join("work").join(name), "").unwrap();
        }
        let stubs = Self {
            shells: ["/bin/sh", "/bin/dash", "/bin/bash"]
                .map(PathBuf::from)
                .into_iter()
                .filter(|shell| shell.exists())
                .collect(),
            directory,
        };
        for name in PROGRAMS {
            stubs.stub(&stubs.path("bin").join(name), name == "gamma");
        }
        stubs.stub(&stubs.path("work/s"), false);
        for name in REAL_PROGRAMS {
            let found = ["/usr/bin", "/bin"].map(|place| Path::new(place).join(name));
            if let Some(found) = found.iter().find(|path| path.exists()) {
                symlink(found, stubs.path("bin").join(name)).unwrap();
            }
        }
        stubs
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Creates a program that writes its name and arguments into a file of its own.
    fn stub(&self, path: &Path, fails: bool) {
        let calls = self.path("calls");
        let name = "${0##*/}";
        fs::write(
            path,
            format!(
                "#!/bin/sh\nprintf '%s\\0' \"{name}\" \"$@\" > '{}'/$$\nexit {}\n",
                calls.display(),
                u8::from(fails)
            ),
        )
        .unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// Runs a command. Returns how the programs were called.
    fn calls(&self, shell: &Path, command: &str) -> BTreeSet<Vec<String>> {
        // Waiting for the end of the output waits for all processes that still have it. On a
        // descriptor that no command redirects, that is every process that is left, also in the
        // background.
        Command::new("/bin/sh")
            .args(["-c", "exec 9>&1; exec \"$0\" -c -- \"$1\""])
            .args([shell.as_os_str(), command.as_ref()])
            .current_dir(self.path("work"))
            .env_clear()
            .env("PATH", self.path("bin"))
            .env("LC_ALL", "C.UTF-8")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let mut calls = BTreeSet::new();
        for entry in fs::read_dir(self.path("calls")).unwrap() {
            let path = entry.unwrap().path();
            let call = String::from_utf8(fs::read(&path).unwrap()).unwrap();
            fs::remove_file(path).unwrap();
            let mut words: Vec<_> = call.split('\0').map(str::to_owned).collect();
            // Each word ends with a NUL.
            words.pop();
            if !words.is_empty() {
                calls.insert(words);
            }
        }
        calls
    }

    /// Checks that every program that a shell runs is a step of the reading. Returns how many there
    /// were.
    fn check(&self, command: &str, reading: &CommandReading) -> Result<usize, TestCaseError> {
        let mut count = 0;
        for shell in &self.shells {
            for call in self.calls(shell, command) {
                count += 1;
                // A script is bound by its content; the program that runs it is the step.
                let script = reading.scripts.iter().any(|path| base(path) == "s")
                    && (call[0] == "s" || call[0].ends_with("sh"));
                let listed = script || reading.steps.iter().any(|step| is_call(step, &call));
                prop_assert!(
                    listed,
                    "{} ran {call:?}, which is not in {:?}",
                    shell.display(),
                    reading.steps
                );
            }
        }
        Ok(count)
    }
}

/// Tells whether a step is this call: the words that the program gets are the same, with any number
/// of them where file names are filled in.
fn is_call(step: &CommandStep, call: &[String]) -> bool {
    // It is nothing but an operator: an argument may begin like one.
    let is_operator = |word: &String| {
        let operator =
            word.trim_start_matches(|first: char| first.is_ascii_digit() || first == '&');
        let plain = |character| matches!(character, '<' | '>' | '&' | '|' | '-');
        word.starts_with("<*") || (operator.starts_with(['<', '>']) && operator.chars().all(plain))
    };
    let words: Vec<_> = step.words.iter().skip_while(|word| word.contains('=')).collect();
    let same = |words: &[&String]| {
        words.len() == call.len()
            && words.iter().zip(call).skip(1).all(|(word, argument)| *word == argument)
            && base(words[0]) == call[0]
    };
    // In quotes, an operator is a word like any other.
    if same(&words) {
        return true;
    }
    let words: Vec<_> = words.into_iter().take_while(|word| !is_operator(word)).collect();
    let mark = step.words.iter().find_map(|word| word.strip_prefix("<*")?.strip_suffix('>'));
    let filled_in: Vec<usize> = mark
        .map(|mark| mark.split(',').map(|at| at.parse().unwrap()).collect())
        .unwrap_or_default();
    let Some(first) = filled_in.first() else { return same(&words) };
    call.len() >= words.len()
        && base(words[0]) == call[0]
        && words[1..*first] == call[1..*first].iter().collect::<Vec<_>>()
}

fn base(word: &str) -> &str {
    word.rsplit('/').next().unwrap_or(word)
}

#[test]
fn what_real_shells_run_is_in_the_reading_of_a_composition() {
    let stubs = StubDirectory::new();
    let calls = Cell::new(0);
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(150) };
    let result = TestRunner::new(config).run(&composition(false), |composed| {
        let reading = read_command(&composed.text);
        prop_assert_eq!(&reading.unreadable, &None);
        calls.set(calls.get() + stubs.check(&composed.text, &reading)?);
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    assert!(calls.get() > 150, "only {} programs ran", calls.get());
}

#[test]
fn what_real_shells_run_is_in_the_reading_of_any_text_that_is_readable() {
    let stubs = StubDirectory::new();
    let (readable, calls) = (Cell::new(0), Cell::new(0));
    let config = ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(4000) };
    let result = TestRunner::new(config).run(&any_text(), |text| {
        let reading = read_command(&text);
        // If something is not known, the reading says nothing about it.
        if reading.unreadable.is_none() {
            readable.set(readable.get() + 1);
            calls.set(calls.get() + stubs.check(&text, &reading)?);
        }
        Ok(())
    });
    result.unwrap_or_else(|error| panic!("{error}"));
    assert!(readable.get() > 200, "only {} texts of 4000 are readable", readable.get());
    assert!(calls.get() > 200, "only {} programs ran", calls.get());
}

#[test]
fn an_argument_may_begin_like_an_operator() {
    let stubs = StubDirectory::new();
    let command = "alpha>out \\>alpha";
    assert_eq!(stubs.check(command, &read_command(command)).unwrap(), stubs.shells.len());
}

/// Shows that the check itself can fail.
#[test]
fn a_call_that_is_not_a_step_is_noticed() {
    let stubs = StubDirectory::new();
    assert!(stubs.check("alpha a; beta", &read_command("alpha a")).is_err());
    assert!(stubs.check("alpha a", &read_command("alpha b")).is_err());
    assert_eq!(stubs.check("alpha a", &read_command("alpha a")).unwrap(), stubs.shells.len());
}
