//! What can go wrong before a job runs.

use std::io;
use std::path::PathBuf;

use crate::level::Requirement;

/// A job that was not run. It had no effect.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The machine cannot confine as much as is asked for. Its owner can act.
    #[error(
        "commands are refused: this machine cannot confine them as sandbox.level = \"{asked}\" asks for. {missing}"
    )]
    Unavailable {
        /// What is asked for.
        asked: Requirement,
        /// What is missing, and what to type.
        missing: String,
    },
    /// A directory that is to be writable cannot be used. The user can act.
    #[error(
        "the directory {} cannot be made writable for commands: {reason}. Check `sandbox.writable` and the workspace with: lango doctor",
        path.display()
    )]
    Writable {
        /// The directory.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// The job's directory is one that it must not see. The user can act.
    #[error(
        "commands cannot run in {}: it lies in {}, which is hidden from them. Use a workspace elsewhere: lango run --workspace DIRECTORY",
        directory.display(), hidden.display()
    )]
    HiddenDirectory {
        /// Where the job was to run.
        directory: PathBuf,
        /// What hides it.
        hidden: PathBuf,
    },
    /// The program could not be started inside the sandbox.
    #[error("cannot run {program}: {reason}")]
    Program {
        /// The program.
        program: String,
        /// What the system said.
        reason: String,
    },
    /// The sandbox itself could not be set up.
    #[error(
        "the sandbox could not be set up ({step}): {reason}. See what is there with: lango doctor"
    )]
    Setup {
        /// What was being done.
        step: &'static str,
        /// What the system said.
        reason: String,
    },
}

impl SandboxError {
    pub(crate) fn setup(step: &'static str) -> impl FnOnce(io::Error) -> Self {
        move |error| Self::Setup { step, reason: error.to_string() }
    }

    pub(crate) fn setup_errno(step: &'static str) -> impl FnOnce(rustix::io::Errno) -> Self {
        move |error| Self::Setup { step, reason: error.to_string() }
    }
}
