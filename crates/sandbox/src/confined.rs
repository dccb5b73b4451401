//! Controls a running job.

use std::fs::File;
use std::io::Read as _;
use std::process::ExitStatus;

use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::oneshot;

use crate::error::SandboxError;
use crate::helper::{NO_PROGRAM, READY};
use crate::launch;
use crate::planted::PlantedRepository;
use crate::running::RunningJob;

/// A job that was started. Dropping it ends all its processes.
#[derive(Debug)]
pub struct ConfinedProcess {
    /// Its standard input, if that is a pipe.
    pub stdin: Option<ChildStdin>,
    /// Its standard output.
    pub stdout: Option<ChildStdout>,
    /// Its standard error.
    pub stderr: Option<ChildStderr>,
    pub(crate) child: Child,
    pub(crate) program: String,
    /// The helper's report, complete once the helper has become the program.
    pub(crate) report: File,
    /// The report so far.
    pub(crate) report_bytes: Vec<u8>,
    /// The job, until it is cleaned up.
    pub(crate) job: Option<RunningJob>,
    /// The cleanup, once the job has ended.
    pub(crate) clearing: Option<oneshot::Receiver<Vec<PlantedRepository>>>,
    /// The repositories that the job made.
    pub(crate) planted: Vec<PlantedRepository>,
}

impl ConfinedProcess {
    /// Waits until the program has ended and all its processes are gone.
    ///
    /// A program that a signal ended has the exit code 128 plus the signal's number, as in a shell.
    /// It can be called again, also after its future was dropped.
    pub async fn wait(&mut self) -> Result<ExitStatus, SandboxError> {
        let status = self.child.wait().await.map_err(SandboxError::setup("waiting"))?;
        self.clear().await?;
        self.check_report()?;
        Ok(status)
    }

    /// Ends all processes at once, and waits until they are gone. Returns the repositories that the
    /// job made.
    pub async fn end(mut self) -> Result<Vec<PlantedRepository>, SandboxError> {
        self.kill();
        self.child.wait().await.map_err(SandboxError::setup("waiting"))?;
        self.clear().await?;
        Ok(self.take_planted_repositories())
    }

    /// Returns the repositories that the job made in the workspace, once it has ended. They are
    /// disabled, and a user should know.
    pub fn take_planted_repositories(&mut self) -> Vec<PlantedRepository> {
        std::mem::take(&mut self.planted)
    }

    /// Ends all processes, without waiting for it.
    pub fn kill(&mut self) {
        if let Some(job) = &self.job {
            job.kill();
        }
    }

    /// Cleans up. If an earlier call began it, this one waits for the same cleanup.
    async fn clear(&mut self) -> Result<(), SandboxError> {
        if let Some(job) = self.job.take() {
            self.clearing = Some(job.clear()?);
        }
        if let Some(clearing) = &mut self.clearing {
            self.planted = clearing.await.map_err(|_| launch::launcher_gone_error())?;
            self.clearing = None;
        }
        Ok(())
    }

    /// Checks that the program itself was reached.
    fn check_report(&mut self) -> Result<(), SandboxError> {
        // The pipe does not block: if another process still holds it, nothing more comes.
        let _ = self.report.read_to_end(&mut self.report_bytes);
        let text = self.report_bytes.as_slice();
        match text.strip_prefix(&[READY]).unwrap_or(text) {
            [] if !text.is_empty() => Ok(()),
            [NO_PROGRAM, reason @ ..] => Err(SandboxError::Program {
                program: self.program.clone(),
                reason: String::from_utf8_lossy(reason).into_owned(),
            }),
            [] => Err(SandboxError::Setup {
                step: "start",
                reason: "it ended before the command began".to_owned(),
            }),
            reason => Err(SandboxError::Setup {
                step: "start",
                reason: String::from_utf8_lossy(reason).into_owned(),
            }),
        }
    }
}

impl Drop for ConfinedProcess {
    fn drop(&mut self) {
        self.kill();
        if let Some(job) = self.job.take() {
            // If no thread can be started, the end of this process cleans up.
            let _ = job.clear();
        }
    }
}
