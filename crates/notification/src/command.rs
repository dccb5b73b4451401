//! Gives notifications to a program, confined by the sandbox.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;

use lango_sandbox::{Job, JobBounds, NetworkAccess, Sandbox, SandboxError, SandboxPolicy};
use lango_text::{make_visible, to_one_line};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::{DeliveryError, Notification};

/// Limits the part of the program's standard error that is shown.
const MAX_ERROR_BYTES: u64 = 2000;
const MAX_ERROR_CHARACTERS: usize = 200;

/// The variables that the program gets.
const PASSED_VARIABLES: [&str; 5] = ["PATH", "HOME", "LANG", "LC_ALL", "TZ"];

/// Runs a program for each notification, which it reads as JSON from its standard input. Nothing of a
/// notification becomes part of the command.
#[derive(Debug, Clone)]
pub struct CommandChannel {
    /// The program, and its arguments.
    pub command: Vec<String>,
    /// True if it may use the network.
    pub network: bool,
    /// A directory of its own, the only place that it may write to.
    pub directory: PathBuf,
    /// The sandbox.
    pub sandbox: Sandbox,
    /// What commands may access.
    pub policy: SandboxPolicy,
}

impl CommandChannel {
    pub(crate) async fn deliver(&self, notification: &Notification) -> Result<(), DeliveryError> {
        let Some((program, arguments)) = self.command.split_first() else {
            return Err(DeliveryError::Never("it has no command".to_owned()));
        };
        let making = |error: std::io::Error| DeliveryError::Later(error.to_string());
        std::fs::create_dir_all(&self.directory).map_err(making)?;
        let directory = self.directory.canonicalize().map_err(making)?;
        let environment = PASSED_VARIABLES.iter().filter_map(|name| {
            let value = std::env::var_os(name)?;
            Some((OsString::from(name), value))
        });
        let bounds = JobBounds {
            private: Some(directory.clone()),
            hidden: self.policy.places.hidden_paths().map(std::path::Path::to_owned).collect(),
            network: if self.network { NetworkAccess::On } else { NetworkAccess::Off },
            limits: self.policy.limits,
            ..JobBounds::default()
        };
        let job = Job {
            descriptors: Vec::new(),
            program: program.into(),
            arguments: arguments.iter().map(OsString::from).collect(),
            directory,
            environment: environment.collect(),
            bounds,
            stdin: Stdio::piped(),
        };
        self.run(job, notification).await
    }

    async fn run(&self, job: Job, notification: &Notification) -> Result<(), DeliveryError> {
        let document = serde_json::to_vec(notification)
            .map_err(|error| DeliveryError::Never(error.to_string()))?;
        let mut process = self.sandbox.spawn(job).await.map_err(|error| describe(&error))?;
        let (mut input, output) = (process.stdin.take(), process.stdout.take());
        let errors = process.stderr.take();
        let give = async {
            if let Some(input) = &mut input {
                // A program that does not read its input has had its notification.
                drop(input.write_all(&document).await);
            }
            drop(input.take());
        };
        let read_output = async {
            if let Some(mut output) = output {
                // What it prints is not used.
                drop(tokio::io::copy(&mut output, &mut tokio::io::sink()).await);
            }
        };
        let read_errors = async {
            let mut text = Vec::new();
            if let Some(mut errors) = errors {
                drop((&mut errors).take(MAX_ERROR_BYTES).read_to_end(&mut text).await);
                drop(tokio::io::copy(&mut errors, &mut tokio::io::sink()).await);
            }
            text
        };
        let (status, (), (), text) = tokio::join!(process.wait(), give, read_output, read_errors);
        let status = status.map_err(|error| describe(&error))?;
        if status.success() {
            return Ok(());
        }
        let said = to_one_line(&String::from_utf8_lossy(&text), MAX_ERROR_CHARACTERS);
        let code = status.code().map_or("a signal".to_owned(), |code| format!("code {code}"));
        let said = make_visible(&said);
        let reason = if said.is_empty() {
            format!("the command ended with {code}")
        } else {
            format!("the command ended with {code}: {said}")
        };
        Err(DeliveryError::Later(reason))
    }
}

fn describe(error: &SandboxError) -> DeliveryError {
    match error {
        SandboxError::Program { .. } => DeliveryError::Never(error.to_string()),
        _ => DeliveryError::Later(error.to_string()),
    }
}
