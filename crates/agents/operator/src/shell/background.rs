//! Implements `exec_background`, `exec_status` and `exec_stop` for commands that keep running while
//! the conversation continues.

mod report;

use std::sync::Arc;
use std::time::Duration;

use lango_protocol::{CallReport, Rights, SessionId, Timestamp};
use lango_text::make_visible_short;
use lango_tool::{Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::command_secrets::ResolvedSecrets;
use super::exec::check_command;
use super::launch::Launcher;
use super::preview::{CommandCall, build_command_proposal};
use super::process_log::ProcessEntry;
use super::processes::{BackgroundProcess, ProcessState, Processes};
use super::run_to_end::convert_error;
use crate::blocking::run_blocking;
use crate::sentence::describe_activity;
use crate::{OperatorSettings, Records, Workspace};

/// Limits how many bytes of output a status shows.
const MAX_SHOWN_BYTES: usize = 8 * 1024;
/// Limits how many seconds one `exec_status` waits.
const MAX_WAIT_SECONDS: u64 = 600;

/// Starts a command and returns without waiting for it.
pub(crate) struct StartProcess {
    workspace: Workspace,
    records: Records,
    processes: Processes,
    launcher: Launcher,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StartArguments {
    /// Command for sh.
    command: String,
    /// Directory in the workspace to run in.
    #[serde(default)]
    cwd: Option<String>,
    /// As for `exec_shell`.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    rights: Rights,
}

#[derive(Debug, Serialize)]
pub(crate) struct StartedProcess {
    id: String,
}

impl StartProcess {
    pub(crate) fn new(
        workspace: Workspace,
        settings: Arc<OperatorSettings>,
        records: Records,
        processes: Processes,
    ) -> Self {
        let launcher = Launcher::new(workspace.clone(), settings);
        Self { workspace, records, processes, launcher }
    }
}

impl Tool for StartProcess {
    type Arguments = StartArguments;
    type Output = StartedProcess;
    const NAME: &'static str = "exec_background";
    const DESCRIPTION: &'static str = "Starts a shell command in the background and returns its \
        id. It ends when lango does; wait for it with exec_status.";
    const LEVEL: SafetyLevel = SafetyLevel::Dangerous;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: StartArguments,
        context: ToolContext,
    ) -> Result<StartedProcess, ToolError> {
        let StartArguments { command, cwd, rights } = arguments;
        check_command(&command)?;
        let processes = &self.processes;
        if !processes.can_start() {
            return Err(ToolError::Failed(
                "too many commands run in the background; stop one with exec_stop first".to_owned(),
            ));
        }
        let workspace = self.workspace.clone();
        let directory = run_blocking(&context, move |_| {
            workspace.absolute_directory(&workspace.check_path(cwd.as_deref().unwrap_or("."))?)
        })
        .await?;
        let started = self
            .launcher
            .start_command(&command, &directory, &rights, ResolvedSecrets::default())
            .await;
        let confined = started.map_err(convert_error)?;
        let entry = ProcessEntry {
            id: context.call.to_string(),
            name: processes.next_name(),
            session: context.session.clone(),
            command,
            directory,
            started: Timestamp::now(),
        };
        let records = &self.records;
        // A command that cannot be listed does not run: dropping it ends it.
        records.record_process_start(&entry).await.map_err(|error| {
            ToolError::Failed(format!("not started, because it could not be listed: {error}"))
        })?;
        let process = processes.add_and_follow(entry, confined, records.clone());
        Ok(StartedProcess { id: process.entry.name.clone() })
    }

    fn render(&self, output: &StartedProcess) -> String {
        format!("started, id {}", output.id)
    }

    fn describe(&self, arguments: &StartArguments) -> Option<String> {
        describe_activity("Starting", &arguments.command)
    }

    fn report(&self, arguments: &StartArguments, output: &StartedProcess) -> Option<CallReport> {
        Some(output.report(&arguments.command))
    }

    fn propose(&self, arguments: &StartArguments) -> Option<Proposal> {
        let StartArguments { command, cwd, rights } = arguments;
        let how = "in the background, until it ends or lango does";
        let call = CommandCall { command, cwd: cwd.as_deref(), rights, how };
        Some(build_command_proposal(&self.workspace, &self.launcher, &call))
    }
}

/// Reports the state of a command.
pub(crate) struct ProcessStatus {
    processes: Processes,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StatusArguments {
    /// From `exec_background`.
    id: String,
    /// Wait so long for it to end, 0 to 600.
    #[serde(default)]
    wait_seconds: u64,
}

#[derive(Debug, Serialize)]
pub(crate) struct ProcessSnapshot {
    id: String,
    state: ProcessState,
    seconds: u64,
    output: String,
}

impl ProcessStatus {
    pub(crate) fn new(processes: Processes) -> Self {
        Self { processes }
    }
}

impl Tool for ProcessStatus {
    type Arguments = StatusArguments;
    type Output = ProcessSnapshot;
    const NAME: &'static str = "exec_status";
    const DESCRIPTION: &'static str = "Says whether a background command runs or how it ended, \
        with its last output. Waits for its end if told to.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(
        &self,
        arguments: StatusArguments,
        context: ToolContext,
    ) -> Result<ProcessSnapshot, ToolError> {
        let StatusArguments { id, wait_seconds } = arguments;
        if wait_seconds > MAX_WAIT_SECONDS {
            let message = format!("wait_seconds must be 0 to {MAX_WAIT_SECONDS}");
            return Err(ToolError::Arguments(message));
        }
        let process = find_process(&self.processes, &context.session, &id)?;
        tokio::select! {
            () = context.cancel.cancelled() => return Err(ToolError::Cancelled),
            () = process.wait(Duration::from_secs(wait_seconds)) => {}
        }
        Ok(take_snapshot(&process))
    }

    fn render(&self, output: &ProcessSnapshot) -> String {
        render_snapshot(output)
    }

    fn describe(&self, arguments: &StatusArguments) -> Option<String> {
        describe_activity("Asking about the background command", &arguments.id)
    }

    fn report(&self, _: &StatusArguments, output: &ProcessSnapshot) -> Option<CallReport> {
        Some(output.status_report())
    }
}

/// Ends a command.
pub(crate) struct StopProcess {
    processes: Processes,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StopArguments {
    /// From `exec_background`.
    id: String,
}

impl StopProcess {
    pub(crate) fn new(processes: Processes) -> Self {
        Self { processes }
    }
}

impl Tool for StopProcess {
    type Arguments = StopArguments;
    type Output = ProcessSnapshot;
    const NAME: &'static str = "exec_stop";
    const DESCRIPTION: &'static str = "Ends a background command and all that it started.";
    const LEVEL: SafetyLevel = SafetyLevel::Dangerous;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: StopArguments,
        context: ToolContext,
    ) -> Result<ProcessSnapshot, ToolError> {
        let process = find_process(&self.processes, &context.session, &arguments.id)?;
        process.stop().await;
        Ok(take_snapshot(&process))
    }

    fn render(&self, output: &ProcessSnapshot) -> String {
        render_snapshot(output)
    }

    fn describe(&self, arguments: &StopArguments) -> Option<String> {
        describe_activity("Stopping the background command", &arguments.id)
    }

    fn report(&self, _: &StopArguments, output: &ProcessSnapshot) -> Option<CallReport> {
        Some(output.stop_report())
    }

    fn propose(&self, arguments: &StopArguments) -> Option<Proposal> {
        let shown = make_visible_short(&arguments.id);
        Some(Proposal::of(format!("End the background command {shown}"), [&arguments.id]))
    }
}

fn find_process(
    processes: &Processes,
    session: &SessionId,
    id: &str,
) -> Result<Arc<BackgroundProcess>, ToolError> {
    processes.find(session, id).ok_or_else(|| {
        let processes = processes.list_in_session(session);
        let names: Vec<&str> =
            processes.iter().map(|process| process.entry.name.as_str()).collect();
        let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
        ToolError::Failed(format!(
            "there is no background command {:?} in this conversation; there is: {names}",
            make_visible_short(id)
        ))
    })
}

fn take_snapshot(process: &BackgroundProcess) -> ProcessSnapshot {
    ProcessSnapshot {
        id: process.entry.name.clone(),
        state: process.state(),
        seconds: Timestamp::now().since(process.entry.started).as_secs(),
        output: process.last_output(MAX_SHOWN_BYTES),
    }
}

fn render_snapshot(snapshot: &ProcessSnapshot) -> String {
    let ProcessSnapshot { id, state, seconds, output } = snapshot;
    let more = match state {
        ProcessState::Running => format!(" since {seconds} s"),
        ProcessState::Exited(Some(code)) => format!(" with exit code {code}"),
        ProcessState::Failed(reason) => format!(": {reason}"),
        ProcessState::Exited(None) | ProcessState::Stopped => String::new(),
    };
    let state = state.name();
    let output = output.strip_suffix('\n').unwrap_or(output);
    let output = if output.is_empty() { "(no output)" } else { output };
    format!("{id} {state}{more}\noutput:\n{output}")
}
