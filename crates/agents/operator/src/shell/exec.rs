//! `exec_shell`: one command, run to its end.

use std::fmt::Write as _;
use std::pin::pin;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lango_sandbox::{Confined, SandboxError};
use lango_tool::{Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::time::{sleep, timeout};

use super::capture::Capture;
use super::launch::Launcher;
use super::preview;
use crate::blocking::blocking;
use crate::{OperatorSettings, Workspace};

/// How long a process that outlives the shell may keep the pipes open.
const GRACE: Duration = Duration::from_millis(500);
/// Bytes of each stream that an error about a timeout carries.
const PARTIAL: usize = 16 * 1024;

pub(crate) struct RunShell {
    workspace: Workspace,
    settings: Arc<OperatorSettings>,
    launcher: Launcher,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShellArguments {
    /// Command for sh.
    command: String,
    /// Directory in the workspace to run in.
    #[serde(default)]
    cwd: Option<String>,
    /// 1 to 600.
    #[serde(default = "half_a_minute")]
    timeout_seconds: u64,
}

fn half_a_minute() -> u64 {
    30
}

#[derive(Debug, Serialize)]
pub(crate) struct ShellResult {
    /// 128 and the number of the signal where one ended it; none where the sandbox was killed.
    exit_code: Option<i32>,
    stdout: String,
    stdout_dropped: u64,
    stderr: String,
    stderr_dropped: u64,
    duration_ms: u64,
    /// Where the sandbox may be why it failed.
    note: Option<&'static str>,
}

enum Ending {
    Exited(Result<ExitStatus, SandboxError>),
    TimedOut,
    Cancelled,
}

impl RunShell {
    pub(crate) fn new(workspace: Workspace, settings: Arc<OperatorSettings>) -> Self {
        let launcher = Launcher::new(workspace.clone(), Arc::clone(&settings));
        Self { workspace, settings, launcher }
    }
}

impl Tool for RunShell {
    type Arguments = ShellArguments;
    type Output = ShellResult;
    const NAME: &'static str = "exec_shell";
    const DESCRIPTION: &'static str = "Runs a shell command in the workspace, without input, and \
        returns exit code, stdout and stderr. All it started is killed when it ends.";
    const LEVEL: SafetyLevel = SafetyLevel::Dangerous;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: ShellArguments,
        context: ToolContext,
    ) -> Result<ShellResult, ToolError> {
        let ShellArguments { command, cwd, timeout_seconds } = arguments;
        let longest = self.settings.longest_timeout_seconds;
        if !(1..=longest).contains(&timeout_seconds) {
            return Err(ToolError::Arguments(format!("timeout_seconds must be 1 to {longest}")));
        }
        check(&command)?;
        let workspace = self.workspace.clone();
        let directory = blocking(&context, move |_| {
            workspace.directory_path(&workspace.locate(cwd.as_deref().unwrap_or("."))?)
        })
        .await?;

        let started = Instant::now();
        let mut confined = self.launcher.launch(&command, &directory).await.map_err(refused)?;
        let (Some(stdout), Some(stderr)) = (confined.stdout.take(), confined.stderr.take()) else {
            return Err(ToolError::Failed("the pipes of the command are missing".to_owned()));
        };
        let mut out = Capture::new(self.settings.output_bytes);
        let mut err = Capture::new(self.settings.output_bytes);
        let ending = tokio::select! {
            // A command that floods its output must not keep the others from being looked at.
            biased;
            () = context.cancel.cancelled() => Ending::Cancelled,
            () = sleep(Duration::from_secs(timeout_seconds)) => Ending::TimedOut,
            status = finish(&mut confined, out.drain(stdout), err.drain(stderr)) => {
                Ending::Exited(status)
            }
        };
        let ended = confined.end().await.map_err(refused);
        match ending {
            // What the caller wants to know is that it was stopped.
            Ending::Cancelled => Err(ToolError::Cancelled),
            Ending::TimedOut => {
                Err(ToolError::TimedOut { seconds: timeout_seconds, partial: partial(&out, &err) })
            }
            Ending::Exited(Err(error)) => Err(refused(error)),
            Ending::Exited(Ok(status)) => {
                ended?;
                let stderr = err.text();
                let failed = !status.success();
                Ok(ShellResult {
                    exit_code: status.code(),
                    note: failed.then(|| self.launcher.note(&stderr)).flatten(),
                    stdout: out.text(),
                    stdout_dropped: out.dropped(),
                    stderr,
                    stderr_dropped: err.dropped(),
                    duration_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
                })
            }
        }
    }

    fn render(&self, output: &ShellResult) -> String {
        let ending = match output.exit_code {
            Some(code @ 129..=192) => format!("exit code {code} (signal {})", code - 128),
            Some(code) => format!("exit code {code}"),
            None => "its sandbox was killed".to_owned(),
        };
        let mut text = format!(
            "{ending} after {}.{:03} s",
            output.duration_ms / 1000,
            output.duration_ms % 1000
        );
        for (name, stream, dropped) in [
            ("stdout", &output.stdout, output.stdout_dropped),
            ("stderr", &output.stderr, output.stderr_dropped),
        ] {
            if stream.is_empty() {
                continue;
            }
            // Writing to a string cannot fail.
            let _ = write!(text, "\n{name}:\n{}", stream.strip_suffix('\n').unwrap_or(stream));
            if dropped > 0 {
                let _ = write!(text, "\n({name} cut: {dropped} more bytes)");
            }
        }
        if output.stdout.is_empty() && output.stderr.is_empty() {
            text.push_str(", no output");
        }
        if let Some(note) = output.note {
            let _ = write!(text, "\n({note})");
        }
        text
    }

    fn propose(&self, arguments: &ShellArguments) -> Option<Proposal> {
        let ShellArguments { command, cwd, timeout_seconds } = arguments;
        let (workspace, launcher) = (&self.workspace, &self.launcher);
        let manner = format!("for at most {timeout_seconds} s");
        Some(preview::proposal(workspace, launcher, command, cwd.as_deref(), &manner))
    }
}

/// Refuses what no shell can be given.
pub(super) fn check(command: &str) -> Result<(), ToolError> {
    if command.contains('\0') {
        return Err(ToolError::Arguments("the command contains a NUL byte".to_owned()));
    }
    Ok(())
}

/// A command that did not run, in words for the model and for a person.
#[expect(clippy::needless_pass_by_value, reason = "it is the end of the error's way")]
pub(super) fn refused(error: SandboxError) -> ToolError {
    match error {
        SandboxError::Program { .. } | SandboxError::Setup { .. } => {
            ToolError::Failed(error.to_string())
        }
        _ => ToolError::Forbidden(error.to_string()),
    }
}

/// Waits for the shell and for the end of its output.
///
/// The output ends with the shell, because all that it started ends then. Should a pipe be open
/// all the same, it gets a moment and is then not waited for.
async fn finish(
    confined: &mut Confined,
    out: impl Future<Output = ()>,
    err: impl Future<Output = ()>,
) -> Result<ExitStatus, SandboxError> {
    let mut drained = pin!(async { tokio::join!(out, err) });
    let mut is_drained = false;
    let status = loop {
        tokio::select! {
            status = confined.wait() => break status,
            _ = &mut drained, if !is_drained => is_drained = true,
        }
    };
    if !is_drained {
        // Running out of patience is no error: what came by now is the output.
        let _ = timeout(GRACE, &mut drained).await;
    }
    status
}

fn partial(out: &Capture, err: &Capture) -> String {
    let mut text = String::new();
    for (name, capture) in [("stdout", out), ("stderr", err)] {
        let tail = capture.tail(PARTIAL);
        if !tail.is_empty() {
            // Writing to a string cannot fail.
            let _ = write!(text, "\n{name} so far:\n{}", tail.strip_suffix('\n').unwrap_or(&tail));
        }
    }
    text
}
