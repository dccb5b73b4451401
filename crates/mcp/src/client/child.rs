//! Runs a server that is a local program: started with minimal rights, ended with all processes
//! that it started.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use lango_sandbox::{
    ConfinedProcess, ConfinementLevel, Job, JobBounds, JobLimits, LevelRequirement, NetworkAccess,
    Sandbox, SandboxError, SandboxPolicy,
};
use parking_lot::Mutex;
use tokio::io::AsyncReadExt as _;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

use super::config::{ServerConfig, StdioConfig};
use super::server_home;

/// Limits the stored end of a program's standard error.
const MAX_STDERR_BYTES: usize = 64 * 1024;
/// Limits the part of it that is shown with a failure.
const MAX_SHOWN_BYTES: usize = 2000;
/// Limits how long a program that closed its output may take to end.
const EXIT_TIMEOUT: Duration = Duration::from_secs(2);
/// Limits how long a program whose input was closed may take to end by itself.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_millis(500);
/// Limits the CPU time of a program, which runs as long as Lango does.
const MAX_CPU_SECONDS: u64 = 30 * 24 * 3600;

/// Lists the environment variables that every program gets, besides those that lead to its home. No
/// other variable of Lango is passed on.
const PASSED_VARIABLES: [&str; 4] = ["PATH", "LANG", "LC_ALL", "TZ"];

/// Describes where programs run and how they are confined.
#[derive(Debug, Clone)]
pub struct ProcessEnvironment {
    /// The workspace.
    pub workspace: PathBuf,
    /// The sandbox.
    pub sandbox: Sandbox,
    /// The sandbox policy.
    pub policy: SandboxPolicy,
    /// The directory of the programs' homes.
    pub homes: PathBuf,
}

/// Represents a running program. Dropping it ends everything that it started.
pub(crate) struct ServerProcess {
    confined: ConfinedProcess,
    stderr: Arc<StderrTail>,
}

/// Holds the end of a program's standard error.
#[derive(Default)]
pub(crate) struct StderrTail {
    /// The lock is shared by the reader task and by failure reports.
    tail: Mutex<VecDeque<u8>>,
}

impl ServerProcess {
    /// Starts the program of a server.
    pub(crate) async fn start(
        server: &ServerConfig,
        config: &StdioConfig,
        process_environment: &ProcessEnvironment,
    ) -> Result<(Self, ChildStdout, ChildStdin), SandboxError> {
        // A program that is not confined is meant to use what is the user's.
        let home = if config.sandbox {
            let home = server_home::server_home(&process_environment.homes, server);
            server_home::create_home(&home).map_err(|error| SandboxError::Setup {
                step: "home",
                reason: format!("{}: {error}", home.display()),
            })?;
            Some(home)
        } else {
            None
        };
        let directory = config.directory.as_deref().unwrap_or(&process_environment.workspace);
        let bounds = {
            let (config, process_environment) = (config.clone(), process_environment.clone());
            let (directory, home) = (directory.to_owned(), home.clone());
            // A large workspace takes a while to look through.
            let build = move || build_bounds(&config, &process_environment, &directory, home);
            tokio::task::spawn_blocking(build).await.map_err(|error| SandboxError::Setup {
                step: "bounds",
                reason: error.to_string(),
            })?
        };
        let job = Job {
            program: config.command.clone().into(),
            arguments: config.arguments.iter().map(OsString::from).collect(),
            directory: directory.to_owned(),
            environment: build_environment(config, home.as_deref()),
            bounds,
            stdin: Stdio::piped(),
            descriptors: Vec::new(),
        };
        let sandbox = if config.sandbox {
            process_environment.sandbox.clone()
        } else {
            // The program is not confined, but still ends with Lango.
            let helper = process_environment.sandbox.helper.clone();
            Sandbox {
                requirement: LevelRequirement::Exactly(ConfinementLevel::None),
                without: Vec::new(),
                helper,
            }
        };
        let mut confined = sandbox.spawn(job).await?;
        let missing = |step| SandboxError::Setup { step, reason: "it has no pipe".to_owned() };
        let output = confined.stdout.take().ok_or_else(|| missing("output"))?;
        let input = confined.stdin.take().ok_or_else(|| missing("input"))?;
        let stderr = Arc::new(StderrTail::default());
        if let Some(errors) = confined.stderr.take() {
            tokio::spawn(Arc::clone(&stderr).listen(errors));
        }
        Ok((Self { confined, stderr }, output, input))
    }

    /// Waits for a program that closed its output, or ends it, and describes how it ended.
    pub(crate) async fn describe_end(mut self) -> String {
        let ended = match tokio::time::timeout(EXIT_TIMEOUT, self.confined.wait()).await {
            Ok(Ok(status)) => match status.code() {
                Some(code) => format!("it ended with code {code}"),
                None => "it was killed".to_owned(),
            },
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it closed its output".to_owned(),
        };
        let stderr = self.stderr.end();
        if stderr.is_empty() { ended } else { format!("{ended}; its last output:\n{stderr}") }
    }
}

impl ServerProcess {
    /// Waits for a program to end by itself, or ends it, and waits until all of its processes are
    /// gone.
    pub(crate) async fn end(mut self) {
        let ended = tokio::time::timeout(SHUTDOWN_TIMEOUT, self.confined.wait()).await;
        if ended.is_err() {
            // Remaining processes are ended again when this process ends.
            let _ = self.confined.end().await;
        }
    }
}

impl StderrTail {
    async fn listen(self: Arc<Self>, mut errors: ChildStderr) {
        let mut piece = vec![0; 8 * 1024];
        while let Ok(read @ 1..) = errors.read(&mut piece).await {
            let mut tail = self.tail.lock();
            let excess = (tail.len() + read).saturating_sub(MAX_STDERR_BYTES).min(tail.len());
            tail.drain(..excess);
            tail.extend(&piece[..read]);
        }
    }

    /// Returns the last lines, for a person.
    fn end(&self) -> String {
        let tail = self.tail.lock();
        let bytes: Vec<u8> = tail.iter().copied().collect();
        let last = &bytes[bytes.len().saturating_sub(MAX_SHOWN_BYTES)..];
        let text = String::from_utf8_lossy(last);
        let text = text.trim();
        if text.is_empty() { String::new() } else { lango_text::make_lines_visible(text, "  | ") }
    }
}

fn build_environment(config: &StdioConfig, home: Option<&Path>) -> Vec<(OsString, OsString)> {
    let users_home = home.is_none().then_some("HOME");
    let passed = PASSED_VARIABLES.into_iter().chain(users_home);
    let passed = passed.filter_map(|name| Some((name, std::env::var_os(name)?)));
    let given = passed.chain(home.into_iter().flat_map(server_home::home_variables));
    let given = given.filter(|(name, _)| !config.environment.contains_key(*name));
    let given = given.map(|(name, value)| (name.into(), value));
    let own = config.environment.iter().map(|(name, value)| (name.into(), value.into()));
    given.chain(own).collect()
}

fn build_bounds(
    config: &StdioConfig,
    process_environment: &ProcessEnvironment,
    directory: &Path,
    home: Option<PathBuf>,
) -> JobBounds {
    let mut policy = process_environment.policy.clone();
    policy.network = if config.network { NetworkAccess::On } else { NetworkAccess::Off };
    policy.limits = JobLimits { cpu_seconds: MAX_CPU_SECONDS, ..policy.limits };
    let mut bounds = policy.job_bounds(&process_environment.workspace);
    let named = config.writable.iter().map(|path| process_environment.workspace.join(path));
    // The workspace is not writable unless it is named: a server runs as long as Lango does, and
    // protected paths there would have placeholders all that time. Paths that do not exist cannot
    // be granted.
    bounds.writable = named.filter(|path| path.exists()).collect();
    bounds.private = home;
    // Temporary files are hidden, except for those that the user named and that exist.
    let named = std::iter::once(&config.command).chain(&config.arguments).map(Path::new);
    let named = named.filter(|path| path.is_absolute()).filter_map(|path| path.canonicalize().ok());
    bounds.readable.extend([process_environment.workspace.clone(), directory.to_owned()]);
    bounds.readable.extend(named);
    bounds
}
