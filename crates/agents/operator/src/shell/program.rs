//! Runs programs that are not a line of shell: the scripts of skills.

use std::path::PathBuf;
use std::sync::Arc;

use lango_tool::{ToolContext, ToolError};
use tokio::io::AsyncWriteExt as _;

use super::launch::Launcher;
use super::run_to_end::{CommandLimits, ShellResult, convert_error, run_to_end};
use crate::{OperatorSettings, Workspace};

/// Describes a program and its input.
pub(crate) struct ProgramCall {
    /// An absolute path.
    pub(crate) path: PathBuf,
    /// The directory that it comes from, which it may read.
    pub(crate) home: PathBuf,
    pub(crate) arguments: Vec<String>,
    /// The variables in addition to the usual ones.
    pub(crate) variables: Vec<(String, String)>,
    /// The content of its standard input.
    pub(crate) input: String,
    pub(crate) timeout_seconds: u64,
}

/// Runs programs in the workspace, confined like commands.
pub(crate) struct ProgramRunner {
    workspace: Workspace,
    settings: Arc<OperatorSettings>,
    launcher: Launcher,
}

impl ProgramRunner {
    pub(crate) fn new(workspace: &Workspace, settings: &Arc<OperatorSettings>) -> Self {
        let launcher = Launcher::new(workspace.clone(), Arc::clone(settings));
        Self { workspace: workspace.clone(), settings: Arc::clone(settings), launcher }
    }

    /// Describes in one line how programs are confined.
    pub(crate) fn describe_confinement(&self) -> String {
        self.launcher.describe_confinement(&[])
    }

    /// Runs a program to its end and returns its result.
    pub(crate) async fn run(
        &self,
        program: ProgramCall,
        context: &ToolContext,
    ) -> Result<ShellResult, ToolError> {
        let ProgramCall { path, home, arguments, variables, input, timeout_seconds } = program;
        let directory = self.workspace.root();
        let (launcher, settings) = (&self.launcher, &self.settings);
        let mut confined = launcher
            .start_program(&path, &home, arguments, directory, variables)
            .await
            .map_err(convert_error)?;
        if let Some(mut stdin) = confined.stdin.take() {
            // A program need not read all of its input, or any of it. The input is written
            // concurrently: a pipe that the program does not empty must not block the run.
            tokio::spawn(async move {
                let _ = stdin.write_all(input.as_bytes()).await;
            });
        }
        // A skill cannot ask for rights.
        run_to_end(
            confined,
            launcher,
            settings,
            context,
            CommandLimits { timeout_seconds, rights: None },
        )
        .await
    }
}
