//! The one place where child processes are started.

use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::process::{Child, ChildStderr, ChildStdout, Command};

use super::Environment;

/// Starts every child process of the operator.
///
/// This is where confinement goes: a sandbox (namespaces, Landlock, seccomp, no network) wraps the
/// command here and nowhere else. Until then a command runs with the rights of this process; it is
/// held back by the approval that precedes it, not by the workspace. In particular a process that
/// leaves its group (`setsid`) is not waited for and not killed with it, and a command can read
/// what its user can read, `/proc` included.
#[derive(Debug, Clone)]
pub(super) struct Launcher {
    environment: Environment,
}

impl Launcher {
    pub(super) fn new(environment: Environment) -> Self {
        Self { environment }
    }

    /// Starts a shell command in `directory`, in a process group of its own.
    pub(super) fn launch(&self, command: &str, directory: &Path) -> io::Result<Launched> {
        let mut child = Command::new("/bin/sh")
            // Without the dashes a command that starts with one would be taken for options.
            .args(["-c", "--", command])
            .current_dir(directory)
            .env_clear()
            .envs(self.environment.variables())
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()?;
        let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let pipes = child.stdout.take().zip(child.stderr.take());
        let group = ProcessGroup { child, group };
        let (stdout, stderr) = pipes.ok_or_else(|| io::Error::other("the pipes are missing"))?;
        Ok(Launched { group, stdout, stderr })
    }
}

/// A command that was started.
pub(super) struct Launched {
    pub(super) group: ProcessGroup,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
}

/// A shell and all that it started and that stayed in its group. Dropping it kills them.
pub(super) struct ProcessGroup {
    child: Child,
    /// None once it was killed: the number may then belong to somebody else.
    group: Option<Pid>,
}

impl ProcessGroup {
    /// Waits for the shell alone.
    pub(super) async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.child.wait().await
    }

    /// Kills whoever is left.
    pub(super) fn kill(&mut self) {
        if let Some(group) = self.group.take() {
            // It fails where nobody is left, which is what is wanted.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        self.kill();
    }
}
