//! Defines the errors before a job runs.

use std::io;
use std::path::PathBuf;

use lango_protocol::Right;

use crate::level::LevelRequirement;

/// Describes why a job was not run. It had no effect.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The machine cannot provide the required confinement. Its operator can act.
    #[error(
        "commands are refused: this machine cannot confine them as sandbox.level = \"{asked}\" asks for. {missing}"
    )]
    Unavailable {
        /// The required level.
        asked: LevelRequirement,
        /// The missing part, and the command that helps.
        missing: String,
    },
    /// A writable directory cannot be used. The user can act.
    #[error(
        "the directory {} cannot be made writable for commands: {reason}. Check `sandbox.writable` and the workspace with: lango doctor",
        path.display()
    )]
    Writable {
        /// The directory.
        path: PathBuf,
        /// The cause.
        reason: String,
    },
    /// The job's directory is hidden from it. The user can act.
    #[error(
        "commands cannot run in {}: it lies in {}, which is hidden from them. Use another workspace: lango run --workspace DIRECTORY",
        directory.display(), hidden.display()
    )]
    HiddenDirectory {
        /// The job's directory.
        directory: PathBuf,
        /// The hidden directory that contains it.
        hidden: PathBuf,
    },
    /// A right cannot be given to the job. The caller can ask for another one.
    #[error("the right {right} cannot be given: {reason}")]
    Right {
        /// The right.
        right: Right,
        /// The cause.
        reason: String,
    },
    /// The program could not be started inside the sandbox.
    #[error("cannot run {program}: {reason}")]
    Program {
        /// The program.
        program: String,
        /// The system's message.
        reason: String,
    },
    /// The sandbox itself could not be set up.
    #[error(
        "the sandbox could not be set up ({step}): {reason}. See what is there with: lango doctor"
    )]
    Setup {
        /// The step that failed.
        step: &'static str,
        /// The system's message.
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
