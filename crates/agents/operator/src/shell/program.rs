//! Programs that are not a line of shell: the scripts of skills.

use std::path::PathBuf;
use std::sync::Arc;

use lango_tool::{ToolContext, ToolError};
use tokio::io::AsyncWriteExt as _;

use super::attend::{ShellResult, attend, refused};
use super::launch::Launcher;
use crate::{OperatorSettings, Workspace};

/// A program, and what it is given.
pub(crate) struct Program {
    /// An absolute path.
    pub(crate) path: PathBuf,
    /// The directory that it comes from, which it may read.
    pub(crate) home: PathBuf,
    pub(crate) arguments: Vec<String>,
    /// Beside the usual ones.
    pub(crate) variables: Vec<(String, String)>,
    /// What it can read from its standard input.
    pub(crate) input: String,
    pub(crate) timeout_seconds: u64,
}

/// Runs programs in the workspace, confined as commands are.
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

    /// How programs are confined, in one line.
    pub(crate) fn confinement(&self) -> String {
        self.launcher.confinement()
    }

    /// Runs one to its end and returns what came of it.
    pub(crate) async fn run(
        &self,
        program: Program,
        context: &ToolContext,
    ) -> Result<ShellResult, ToolError> {
        let Program { path, home, arguments, variables, input, timeout_seconds } = program;
        let directory = self.workspace.root();
        let (launcher, settings) = (&self.launcher, &self.settings);
        let mut confined = launcher
            .launch_program(&path, &home, arguments, directory, variables)
            .await
            .map_err(refused)?;
        if let Some(mut stdin) = confined.stdin.take() {
            // A program that does not read, or not all of it, does not have to. It is written
            // beside the run: a pipe that nobody empties must not hold it up.
            tokio::spawn(async move {
                let _ = stdin.write_all(input.as_bytes()).await;
            });
        }
        attend(confined, launcher, settings, context, timeout_seconds).await
    }
}
