//! Starts all child processes, each of them in the sandbox.

use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;

use lango_protocol::{Right, Rights};
use lango_sandbox::{
    ConfinedProcess, ConfinementLevel, GrantedRight, Job, JobBounds, SandboxError,
};
use lango_shell_command::{CommandReading, read_command};
use tokio::task::JoinError;

use super::command_secrets::ResolvedSecrets;
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

    /// Starts a shell command in `directory`, with rights beyond the sandbox and with secrets.
    pub(super) async fn start_command(
        &self,
        command: &str,
        directory: &Path,
        rights: &Rights,
        secrets: ResolvedSecrets,
    ) -> Result<ConfinedProcess, SandboxError> {
        let granted: Result<Vec<_>, _> =
            rights.iter().map(|right| self.resolve_right(directory, right)).collect();
        let granted = granted?;
        // Whether it was asked about or not: what it is known for is all that it can do.
        let only_reads =
            self.confines_reading(&read_command(command), rights) && secrets.is_empty();
        let bounds = self.compute_bounds(only_reads).await?;
        let mut job = self.build_job("/bin/sh".into(), directory, bounds);
        if only_reads {
            job.environment.extend(self.git_variables());
        }
        // Without the dashes a command that starts with one would be taken for options.
        job.arguments = ["-c", "--", command].map(Into::into).into();
        job.environment.extend(secrets.variables);
        job.descriptors = secrets.files;
        for right in granted {
            job.bounds.grant(right);
        }
        self.settings.sandbox.spawn(job).await
    }

    /// Starts a program by its path, with a pipe as its input; the directory `readable`, which
    /// holds the program, can be read wherever it is.
    pub(super) async fn start_program(
        &self,
        path: &Path,
        readable: &Path,
        arguments: Vec<String>,
        directory: &Path,
        variables: Vec<(String, String)>,
    ) -> Result<ConfinedProcess, SandboxError> {
        let arguments = arguments.into_iter().map(OsString::from);
        let (program, first) = match find_interpreter(path) {
            Some(interpreter) => (interpreter.into(), Some(OsString::from(path))),
            None => (OsString::from(path), None),
        };
        let own = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        let bounds = self.compute_bounds(false).await?;
        let mut job = self.build_job(program, directory, bounds);
        job.arguments = first.into_iter().chain(arguments).collect();
        job.environment.extend(own);
        job.bounds.readable.push(readable.to_owned());
        job.stdin = Stdio::piped();
        self.settings.sandbox.spawn(job).await
    }

    /// Builds a job without arguments and input, confined like every child of the operator.
    fn build_job(&self, program: OsString, directory: &Path, bounds: JobBounds) -> Job {
        let variables = self.settings.environment.variables();
        Job {
            program,
            arguments: Vec::new(),
            directory: directory.to_owned(),
            environment: variables.map(|(name, value)| (name.into(), value.into())).collect(),
            bounds,
            stdin: Stdio::null(),
            descriptors: Vec::new(),
        }
    }

    /// Returns the bounds of a job, without rights.
    async fn compute_bounds(&self, only_reads: bool) -> Result<JobBounds, SandboxError> {
        let (settings, root) = (Arc::clone(&self.settings), self.workspace.root().to_owned());
        // A large workspace takes a while to look through.
        let bounds = tokio::task::spawn_blocking(move || {
            let policy = &settings.policy;
            if only_reads { policy.reading_bounds(&root) } else { policy.job_bounds(&root) }
        });
        let failed =
            |error: JoinError| SandboxError::Setup { step: "bounds", reason: error.to_string() };
        bounds.await.map_err(failed)
    }

    /// Returns the names of the variables that commands see.
    pub(super) fn variable_names(&self) -> Vec<String> {
        let variables = self.settings.environment.variables();
        variables.map(|(name, _)| name.to_string_lossy().into_owned()).collect()
    }

    /// Resolves a right for a command in `directory` to what it opens.
    pub(super) fn resolve_right(
        &self,
        directory: &Path,
        right: &Right,
    ) -> Result<GrantedRight, SandboxError> {
        let OperatorSettings { sandbox, policy, .. } = &*self.settings;
        sandbox.resolve_right(policy, self.workspace.root(), directory, right)
    }

    /// Describes in one line how commands with these rights are confined.
    pub(super) fn describe_confinement(&self, rights: &[GrantedRight]) -> String {
        self.settings.sandbox.describe_in_one_line(
            &self.settings.policy,
            self.workspace.root(),
            rights,
        )
    }

    /// Tells whether a command only reads, and can do no more than that: it runs confined to reading,
    /// its programs are those of the system, and if it calls git, the repository of the workspace
    /// names no program.
    pub(super) fn confines_reading(&self, reading: &CommandReading, rights: &Rights) -> bool {
        reading.only_reads()
            && rights.is_empty()
            && self.settings.sandbox.level().is_ok_and(|level| level != ConfinementLevel::None)
            && reading.programs().all(|name| self.is_system_program(name))
            && (!reading.calls_git() || self.has_plain_repository())
    }

    /// Tells whether the shell finds a program of this name among those of the system.
    fn is_system_program(&self, name: &str) -> bool {
        let mut variables = self.settings.environment.variables();
        let Some((_, path)) = variables.find(|(variable, _)| *variable == "PATH") else {
            return false;
        };
        let is_there = |directory: &PathBuf| {
            // From a relative directory, another program would be found in each directory.
            !directory.is_absolute() || directory.join(name).symlink_metadata().is_ok()
        };
        let found = std::env::split_paths(path).find(is_there);
        found.is_some_and(|directory| {
            directory.is_absolute() && lango_sandbox::is_system_program(&directory.join(name))
        })
    }

    /// Tells whether the workspace is a repository in which git runs no program, and looks into no
    /// other one.
    fn has_plain_repository(&self) -> bool {
        let git = self.workspace.root().join(".git");
        lango_sandbox::is_plain_repository(&git) && !lango_sandbox::has_submodules(&git)
    }

    /// Returns the variables with which git takes the repository of the workspace for that of every
    /// directory in it: a directory can look like a repository whose configuration names programs.
    fn git_variables(&self) -> Vec<(OsString, OsString)> {
        let root = self.workspace.root();
        let git: [(&str, OsString); 3] = [
            ("GIT_DIR", root.join(".git").into()),
            ("GIT_WORK_TREE", root.into()),
            // Git would write what it learnt of the files into the index.
            ("GIT_OPTIONAL_LOCKS", "0".into()),
        ];
        git.map(|(name, value)| (name.into(), value)).into()
    }

    /// Returns a note on a command that failed with these error messages, if the sandbox may be the
    /// cause. `rights` are those that it had, if it could have asked for more.
    pub(super) fn explain_failure(&self, rights: Option<&Rights>, errors: &str) -> Option<String> {
        self.settings.sandbox.note(&self.settings.policy, rights, errors)
    }
}

/// Returns the interpreter of a script that is not executable.
fn find_interpreter(path: &Path) -> Option<&'static str> {
    let is_program =
        std::fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o111 != 0);
    if is_program {
        return None;
    }
    match path.extension()?.to_str()? {
        "sh" => Some("/bin/sh"),
        "py" => Some("python3"),
        "js" | "mjs" => Some("node"),
        _ => None,
    }
}
