//! A server that is a program: started with as little as it needs, ended with all it started.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lango_sandbox::{
    Bounds, Confined, Job, Level, Limits, Network, Policy, Requirement, Sandbox, SandboxError,
};
use tokio::io::AsyncReadExt as _;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};

use super::config::StdioConfig;

/// Bytes kept of what a program writes to its standard error: the last ones.
const KEPT: usize = 64 * 1024;
/// Bytes of it that are shown with a failure.
const SHOWN: usize = 2000;
/// How long a program that closed its output may take to end.
const ENDING: Duration = Duration::from_secs(2);
/// How long a program whose input was closed may take to end by itself.
const GRACE: Duration = Duration::from_millis(500);
/// CPU time of a program that runs as long as Lango does.
const CPU_SECONDS: u64 = 30 * 24 * 3600;

/// The variables that every program may know. Nothing else of our environment reaches it.
const PASSED_ON: [&str; 5] = ["PATH", "HOME", "LANG", "LC_ALL", "TZ"];

/// Places below a home where programs keep what they fetched, so that starters such as `npx` and
/// `uvx` work.
const CACHES: [&str; 4] = [".cache", ".npm", ".local/share/uv", ".local/state"];

/// Where programs run, and what confines them.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// The directory that is worked in.
    pub workspace: PathBuf,
    /// What confines programs.
    pub sandbox: Sandbox,
    /// What they may touch.
    pub policy: Policy,
}

/// A program that runs. Dropping it ends everything that it started.
pub(crate) struct Child {
    confined: Confined,
    said: Arc<Said>,
}

/// The end of what a program wrote to its standard error.
#[derive(Default)]
pub(crate) struct Said {
    /// A lock, because it is written by the reader and read with a failure.
    kept: Mutex<VecDeque<u8>>,
}

impl Child {
    /// Starts a program.
    pub(crate) async fn start(
        config: &StdioConfig,
        surroundings: &Surroundings,
    ) -> Result<(Self, ChildStdout, ChildStdin), SandboxError> {
        let directory = config.directory.as_deref().unwrap_or(&surroundings.workspace);
        let job = Job {
            program: config.command.clone().into(),
            arguments: config.arguments.iter().map(OsString::from).collect(),
            directory: directory.to_owned(),
            environment: environment(config),
            bounds: bounds(config, surroundings, directory),
            stdin: Stdio::piped(),
        };
        let sandbox = if config.sandbox {
            surroundings.sandbox.clone()
        } else {
            // Not confined, and still watched over: it ends with us.
            let helper = surroundings.sandbox.helper.clone();
            Sandbox { requirement: Requirement::Exactly(Level::None), without: Vec::new(), helper }
        };
        let mut confined = sandbox.spawn(job).await?;
        let missing = |step| SandboxError::Setup { step, reason: "it has no pipe".to_owned() };
        let output = confined.stdout.take().ok_or_else(|| missing("output"))?;
        let input = confined.stdin.take().ok_or_else(|| missing("input"))?;
        let said = Arc::new(Said::default());
        if let Some(errors) = confined.stderr.take() {
            tokio::spawn(Arc::clone(&said).listen(errors));
        }
        Ok((Self { confined, said }, output, input))
    }

    /// Waits for a program that closed its output, ends it otherwise, and says how it ended.
    pub(crate) async fn post_mortem(mut self) -> String {
        let ended = match tokio::time::timeout(ENDING, self.confined.wait()).await {
            Ok(Ok(status)) => match status.code() {
                Some(code) => format!("it ended with code {code}"),
                None => "it was killed".to_owned(),
            },
            Ok(Err(error)) => error.to_string(),
            Err(_) => "it closed its output".to_owned(),
        };
        let said = self.said.end();
        if said.is_empty() { ended } else { format!("{ended}; the last it said:\n{said}") }
    }
}

impl Child {
    /// Lets a program end that was told to, and ends it where it does not; waits until everything
    /// that it started is gone.
    pub(crate) async fn end(mut self) {
        let ended = tokio::time::timeout(GRACE, self.confined.wait()).await;
        if ended.is_err() {
            // Whatever is left of it is ended again when the process ends.
            let _ = self.confined.end().await;
        }
    }
}

impl Said {
    async fn listen(self: Arc<Self>, mut errors: ChildStderr) {
        let mut piece = vec![0; 8 * 1024];
        while let Ok(read @ 1..) = errors.read(&mut piece).await {
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            let excess = (kept.len() + read).saturating_sub(KEPT).min(kept.len());
            kept.drain(..excess);
            kept.extend(&piece[..read]);
        }
    }

    /// The last lines, for a person.
    fn end(&self) -> String {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = kept.iter().copied().collect();
        let last = &bytes[bytes.len().saturating_sub(SHOWN)..];
        let text = String::from_utf8_lossy(last);
        let text = text.trim();
        if text.is_empty() { String::new() } else { lango_tool::visible_lines(text, "  | ") }
    }
}

fn environment(config: &StdioConfig) -> Vec<(OsString, OsString)> {
    let passed = PASSED_ON.into_iter().filter(|name| !config.environment.contains_key(*name));
    let passed = passed.filter_map(|name| Some((name.into(), std::env::var_os(name)?)));
    let own = config.environment.iter().map(|(name, value)| (name.into(), value.into()));
    passed.chain(own).collect()
}

fn bounds(config: &StdioConfig, surroundings: &Surroundings, directory: &Path) -> Bounds {
    let mut policy = surroundings.policy.clone();
    policy.network = if config.network { Network::On } else { Network::Off };
    policy.limits = Limits { cpu_seconds: CPU_SECONDS, ..policy.limits };
    let mut bounds = policy.bounds(&surroundings.workspace);
    let caches = policy.home.iter().flat_map(|home| CACHES.map(|name| home.join(name)));
    let named = config.writable.iter().map(|path| surroundings.workspace.join(path));
    // Not the workspace, unless it is named: a server runs for as long as Lango does, and what is
    // protected there would have stand-ins all that time. What is not there cannot be granted.
    bounds.writable = caches.chain(named).filter(|path| path.exists()).collect();
    // Temporary files are out of sight, except for what the user named.
    let named = std::iter::once(&config.command).chain(&config.arguments).map(Path::new);
    let named = named.filter(|path| path.is_absolute()).filter_map(|path| path.canonicalize().ok());
    bounds.readable.extend([surroundings.workspace.clone(), directory.to_owned()]);
    bounds.readable.extend(named);
    bounds
}
