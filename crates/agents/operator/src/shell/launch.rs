//! The one place where child processes are started, each of them in the sandbox.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;

use lango_sandbox::{Confined, Job, SandboxError};

use crate::{OperatorSettings, Workspace};

/// Starts every child process of the operator.
#[derive(Debug, Clone)]
pub(super) struct Launcher {
    workspace: Workspace,
    settings: Arc<OperatorSettings>,
}

impl Launcher {
    pub(super) fn new(workspace: Workspace, settings: Arc<OperatorSettings>) -> Self {
        Self { workspace, settings }
    }

    /// Starts a shell command in `directory`.
    pub(super) async fn launch(
        &self,
        command: &str,
        directory: &Path,
    ) -> Result<Confined, SandboxError> {
        let variables = self.settings.environment.variables();
        let job = Job {
            program: "/bin/sh".into(),
            // Without the dashes a command that starts with one would be taken for options.
            arguments: ["-c", "--", command].map(Into::into).into(),
            directory: directory.to_owned(),
            environment: variables.map(|(name, value)| (name.into(), value.into())).collect(),
            bounds: self.settings.policy.bounds(self.workspace.root()),
            stdin: Stdio::null(),
        };
        self.settings.sandbox.spawn(job).await
    }

    /// The names of the variables that commands see.
    pub(super) fn variables(&self) -> Vec<String> {
        let variables = self.settings.environment.variables();
        variables.map(|(name, _)| name.to_string_lossy().into_owned()).collect()
    }

    /// How commands are confined, in one line.
    pub(super) fn confinement(&self) -> String {
        self.settings.sandbox.sentence(&self.settings.policy, self.workspace.root())
    }

    /// What to tell about a command that failed with these words, if the sandbox may be the cause.
    pub(super) fn note(&self, errors: &str) -> Option<&'static str> {
        self.settings.sandbox.note(&self.settings.policy, errors)
    }
}
