//! A job that runs.

use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::process::ExitStatus;

use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::oneshot;

use crate::error::SandboxError;
use crate::helper::{NO_PROGRAM, READY};
use crate::launch;
use crate::residue::Residue;

/// A job that was started. Dropping it ends everything that it started.
#[derive(Debug)]
pub struct Confined {
    /// Its standard input, where that is a pipe.
    pub stdin: Option<ChildStdin>,
    /// Its output.
    pub stdout: Option<ChildStdout>,
    /// Its errors.
    pub stderr: Option<ChildStderr>,
    pub(crate) child: Child,
    pub(crate) program: String,
    /// What the helper has to say, to be read when it has become the program.
    pub(crate) report: File,
    /// What it said so far.
    pub(crate) said: Vec<u8>,
    /// Where a helper watches over the job, dropping this tells it to end everything.
    pub(crate) lifeline: Option<OwnedFd>,
    /// Whether the job has a supervisor, which must not be killed before those it watches over.
    pub(crate) is_supervised: bool,
    pub(crate) residue: Option<Residue>,
    /// Under way, once the job has ended.
    pub(crate) clearing: Option<oneshot::Receiver<()>>,
}

impl Confined {
    /// Waits until the program has ended and everything that it started is gone.
    ///
    /// A program that a signal ended has the code 128 and the signal's number, as in a shell. It
    /// can be called again, also after its future was dropped.
    pub async fn wait(&mut self) -> Result<ExitStatus, SandboxError> {
        let status = self.child.wait().await.map_err(SandboxError::setup("waiting"))?;
        self.clear().await?;
        self.check_report()?;
        Ok(status)
    }

    /// Ends everything at once, and waits until it is gone.
    pub async fn end(mut self) -> Result<(), SandboxError> {
        self.kill();
        self.child.wait().await.map_err(SandboxError::setup("waiting"))?;
        self.clear().await
    }

    /// Ends everything, without waiting for it.
    pub fn kill(&mut self) {
        self.lifeline = None;
        if !self.is_supervised {
            // It fails on one that has ended, which is what is wanted.
            let _ = self.child.start_kill();
        }
    }

    /// Clears away what is left. Where an earlier call began it, this one waits for the same.
    async fn clear(&mut self) -> Result<(), SandboxError> {
        if let Some(residue) = self.residue.take() {
            self.clearing = Some(launch::aside(move || residue.clear())?);
        }
        if let Some(clearing) = &mut self.clearing {
            clearing.await.map_err(|_| launch::gone())?;
            self.clearing = None;
        }
        Ok(())
    }

    /// Whether the program itself was reached.
    fn check_report(&mut self) -> Result<(), SandboxError> {
        // The pipe does not block: where somebody still holds it, there is nothing more to come.
        let _ = self.report.read_to_end(&mut self.said);
        let text = self.said.as_slice();
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

impl Drop for Confined {
    fn drop(&mut self) {
        self.kill();
        if let Some(residue) = self.residue.take() {
            // Without a thread to be had, what is left is recognised and removed the next time.
            let _ = launch::aside(move || residue.clear());
        }
    }
}
