//! Follows a command until it has ended, its timeout expires, or the turn is stopped.

use std::fmt;
use std::pin::pin;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use lango_protocol::{CallReport, Rights};
use lango_sandbox::{ConfinedProcess, PlantedRepository, SandboxError};
use lango_text::make_visible;
use lango_tool::{ToolContext, ToolError};
use serde::Serialize;
use tokio::time::{sleep, timeout};

use super::capture::OutputCapture;
use super::launch::Launcher;
use crate::OperatorSettings;
use crate::sentence::{count_with_noun, to_sentence};

/// Limits how long a process that outlives the shell may keep the pipes open.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);
/// Limits how many bytes of each stream an error about a timeout carries.
const MAX_PARTIAL_BYTES: usize = 16 * 1024;

#[derive(Debug, Serialize)]
pub(crate) struct ShellResult {
    /// 128 plus the signal number if a signal ended it; none if the sandbox was killed.
    exit_code: Option<i32>,
    stdout: String,
    stdout_dropped: u64,
    stderr: String,
    stderr_dropped: u64,
    duration_ms: u64,
    /// Notes on the sandbox: it may be why the command failed, or had to undo something.
    notes: Vec<String>,
}

enum CommandEnding {
    Exited(Result<ExitStatus, SandboxError>),
    TimedOut,
    Cancelled,
}

/// Limits a command that runs to its end.
#[derive(Debug, Clone, Copy)]
pub(super) struct CommandLimits<'a> {
    pub(super) timeout_seconds: u64,
    /// The rights that it has beyond the sandbox, if it could have asked for more.
    pub(super) rights: Option<&'a Rights>,
}

/// Runs a command to its end.
pub(super) async fn run_to_end(
    mut confined: ConfinedProcess,
    launcher: &Launcher,
    settings: &OperatorSettings,
    context: &ToolContext,
    limits: CommandLimits<'_>,
) -> Result<ShellResult, ToolError> {
    let CommandLimits { timeout_seconds, rights } = limits;
    let started = Instant::now();
    let (Some(stdout), Some(stderr)) = (confined.stdout.take(), confined.stderr.take()) else {
        return Err(ToolError::Failed("the pipes of the command are missing".to_owned()));
    };
    let mut out = OutputCapture::new(settings.max_output_bytes);
    let mut err = OutputCapture::new(settings.max_output_bytes);
    let ending = tokio::select! {
        // A command that floods its output must not starve the other branches.
        biased;
        () = context.cancel.cancelled() => CommandEnding::Cancelled,
        () = sleep(Duration::from_secs(timeout_seconds)) => CommandEnding::TimedOut,
        status = wait_for_end(&mut confined, out.read_stream(stdout), err.read_stream(stderr)) => {
            CommandEnding::Exited(status)
        }
    };
    let ended = confined.end().await.map_err(convert_error);
    match ending {
        // The caller only needs to know that it was stopped.
        CommandEnding::Cancelled => {
            for planted in ended.iter().flatten() {
                tracing::warn!(path = %planted.path.display(), "a stopped command made a repository");
            }
            Err(ToolError::Cancelled)
        }
        CommandEnding::TimedOut => {
            let mut partial = render_partial_output(&out, &err);
            for planted in ended.iter().flatten() {
                partial.push_str(&format!("\n({})", describe_planted(planted)));
            }
            Err(ToolError::TimedOut { seconds: timeout_seconds, partial })
        }
        CommandEnding::Exited(Err(error)) => Err(convert_error(error)),
        CommandEnding::Exited(Ok(status)) => {
            let planted = ended?;
            let stderr = err.text();
            let cause =
                if status.success() { None } else { launcher.explain_failure(rights, &stderr) };
            let undone = planted.iter().map(describe_planted);
            Ok(ShellResult {
                exit_code: status.code(),
                notes: cause.into_iter().chain(undone).collect(),
                stdout: out.text(),
                stdout_dropped: out.dropped(),
                stderr,
                stderr_dropped: err.dropped(),
                duration_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            })
        }
    }
}

/// Reports to programs how a command ended.
#[derive(Serialize)]
struct CommandEnd {
    exit_code: Option<i32>,
    duration_ms: u64,
}

impl ShellResult {
    /// Reports to users how `program`, the subject of the sentence, ended and what it printed.
    pub(crate) fn report(&self, program: &str) -> CallReport {
        let how = if self.exit_code.is_some() { "with" } else { "because" };
        let ending = format!("{program} ended {how} {}", self.describe_ending());
        let printed = self.render_output();
        let mut report = if self.stdout.is_empty() && self.stderr.is_empty() {
            CallReport::new(format!("{ending} and printed nothing."))
        } else if printed.trim_matches('\n').is_empty() {
            CallReport::new(format!("{ending} and printed only empty lines."))
        } else {
            CallReport::new(format!("{ending}:")).verbatim(printed)
        };
        for (name, dropped) in [("stdout", self.stdout_dropped), ("stderr", self.stderr_dropped)] {
            if dropped > 0 {
                let more = count_with_noun(dropped, "more byte", "more bytes");
                report = report.note(format!("Not shown: {more} of {name}."));
            }
        }
        for note in &self.notes {
            report = report.note(to_sentence(note));
        }
        let Self { exit_code, duration_ms, .. } = *self;
        let report = report.data(&CommandEnd { exit_code, duration_ms });
        if exit_code == Some(0) { report } else { report.unsuccessful() }
    }

    /// Returns both streams; the second has a heading.
    fn render_output(&self) -> String {
        match (self.stdout.as_str(), self.stderr.as_str()) {
            (out, "") => out.to_owned(),
            ("", err) => format!("stderr:\n{err}"),
            (out, err) => format!("{}\nstderr:\n{err}", out.strip_suffix('\n').unwrap_or(out)),
        }
    }

    /// Returns what ended the command.
    fn describe_ending(&self) -> String {
        match self.exit_code {
            Some(code @ 129..=192) => format!("exit code {code} (signal {})", code - 128),
            Some(code) => format!("exit code {code}"),
            None => "its sandbox was killed".to_owned(),
        }
    }
}

impl fmt::Display for ShellResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe_ending())?;
        write!(f, " after {}.{:03} s", self.duration_ms / 1000, self.duration_ms % 1000)?;
        for (name, stream, dropped) in [
            ("stdout", &self.stdout, self.stdout_dropped),
            ("stderr", &self.stderr, self.stderr_dropped),
        ] {
            if stream.is_empty() {
                continue;
            }
            write!(f, "\n{name}:\n{}", stream.strip_suffix('\n').unwrap_or(stream))?;
            if dropped > 0 {
                write!(f, "\n({name} cut: {dropped} more bytes)")?;
            }
        }
        if self.stdout.is_empty() && self.stderr.is_empty() {
            f.write_str(", no output")?;
        }
        self.notes.iter().try_for_each(|note| write!(f, "\n({note})"))
    }
}

/// Describes a repository that a command made, whatever its name contains.
pub(super) fn describe_planted(planted: &PlantedRepository) -> String {
    make_visible(&planted.to_string())
}

/// Converts the error of a command that did not run, in words for the model and for users.
#[expect(clippy::needless_pass_by_value, reason = "it is used as a function for map_err")]
pub(super) fn convert_error(error: SandboxError) -> ToolError {
    match error {
        SandboxError::Program { .. } | SandboxError::Setup { .. } => {
            ToolError::Failed(error.to_string())
        }
        _ => ToolError::Forbidden(error.to_string()),
    }
}

/// Waits for the shell and for the end of its output.
///
/// The output ends with the shell, because all that it started ends then. A pipe that is open all
/// the same gets a short timeout.
async fn wait_for_end(
    confined: &mut ConfinedProcess,
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
        // A timeout is no error: what was read by now is the output.
        let _ = timeout(DRAIN_TIMEOUT, &mut drained).await;
    }
    status
}

fn render_partial_output(out: &OutputCapture, err: &OutputCapture) -> String {
    let mut text = String::new();
    for (name, capture) in [("stdout", out), ("stderr", err)] {
        let tail = capture.tail(MAX_PARTIAL_BYTES);
        if !tail.is_empty() {
            let tail = tail.strip_suffix('\n').unwrap_or(&tail);
            text.push_str(&format!("\n{name} so far:\n{tail}"));
        }
    }
    text
}
