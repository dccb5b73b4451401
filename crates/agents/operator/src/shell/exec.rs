//! Implements `exec_shell`, which runs one command to its end.

use std::sync::Arc;

use lango_protocol::{CallReport, Rights};
use lango_shell_command::MAX_COMMAND_BYTES;
use lango_tool::{Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::command_secrets::{CommandSecrets, SecretVariables};
use super::launch::Launcher;
use super::preview::{CommandCall, build_command_proposal};
use super::run_to_end::{CommandLimits, ShellResult, convert_error, run_to_end};
use crate::blocking::run_blocking;
use crate::sentence::{code, describe_activity};
use crate::{OperatorSettings, Workspace};

pub(crate) struct RunShell {
    workspace: Workspace,
    settings: Arc<OperatorSettings>,
    launcher: Launcher,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ShellArguments {
    /// Command for sh.
    command: String,
    /// Directory in the workspace to run in.
    #[serde(default)]
    cwd: Option<String>,
    /// 1 to 600.
    #[serde(default = "default_timeout_seconds")]
    timeout_seconds: u64,
    /// Needs beyond the sandbox, which the user is asked for: `git` (to write .git), `network`,
    /// `write:/absolute/directory`.
    #[serde(default)]
    #[schemars(with = "Vec<String>")]
    rights: Rights,
    /// Variables with handles of secrets.
    #[serde(default)]
    secrets: SecretVariables,
    /// The same as files: each variable is a path.
    #[serde(default)]
    secret_files: SecretVariables,
}

fn default_timeout_seconds() -> u64 {
    30
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
        let ShellArguments { command, cwd, timeout_seconds, rights, secrets, secret_files } =
            arguments;
        let max_seconds = self.settings.max_timeout_seconds;
        if !(1..=max_seconds).contains(&timeout_seconds) {
            return Err(ToolError::Arguments(format!(
                "timeout_seconds must be 1 to {max_seconds}"
            )));
        }
        check_command(&command)?;
        let workspace = self.workspace.clone();
        let directory = run_blocking(&context, move |_| {
            workspace.absolute_directory(&workspace.check_path(cwd.as_deref().unwrap_or("."))?)
        })
        .await?;

        let asked = CommandSecrets { variables: &secrets, files: &secret_files };
        let secrets = asked.resolve(&self.settings.handles, &command, &context).await?;
        let started = self.launcher.start_command(&command, &directory, &rights, secrets).await;
        let confined = started.map_err(convert_error)?;
        let limits = CommandLimits { timeout_seconds, rights: Some(&rights) };
        run_to_end(confined, &self.launcher, &self.settings, &context, limits).await
    }

    fn render(&self, output: &ShellResult) -> String {
        output.to_string()
    }

    fn describe(&self, arguments: &ShellArguments) -> Option<String> {
        describe_activity("Running", &arguments.command)
    }

    fn report(&self, arguments: &ShellArguments, output: &ShellResult) -> Option<CallReport> {
        Some(output.report(&code(&arguments.command)))
    }

    fn propose(&self, arguments: &ShellArguments) -> Option<Proposal> {
        let ShellArguments { command, cwd, timeout_seconds, rights, secrets, secret_files } =
            arguments;
        let how = format!("for at most {timeout_seconds} s");
        let call = CommandCall { command, cwd: cwd.as_deref(), rights, how: &how };
        let proposal = build_command_proposal(&self.workspace, &self.launcher, &call);
        let secrets = CommandSecrets { variables: secrets, files: secret_files };
        Some(secrets.propose(&self.settings.handles, proposal))
    }
}

/// Rejects commands that no shell accepts.
pub(super) fn check_command(command: &str) -> Result<(), ToolError> {
    if command.contains('\0') {
        return Err(ToolError::Arguments("the command contains a NUL byte".to_owned()));
    }
    // A longer one is not read, so that no rule could deny a part of it.
    if command.len() > MAX_COMMAND_BYTES {
        return Err(ToolError::Arguments(format!(
            "the command is longer than {} KiB; write a script and run that",
            MAX_COMMAND_BYTES / 1024
        )));
    }
    Ok(())
}
