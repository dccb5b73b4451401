//! Creates a workspace with a directory outside of it, and runs commands in it.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use lango_sandbox::{
    ConfinedProcess, ConfinementLevel, Job, JobBounds, LevelRequirement, ProtectedPath, Sandbox,
    SandboxError, SandboxPart,
};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// The levels that confine; both must be available where the tests run.
pub(crate) const LEVELS: [ConfinementLevel; 2] =
    [ConfinementLevel::Bubblewrap, ConfinementLevel::Landlock];

pub(crate) struct TestWorkspace {
    directory: TempDir,
    pub(crate) sandbox: Sandbox,
    pub(crate) bounds: JobBounds,
}

/// The exit code and the output of a command.
#[derive(Debug)]
pub(crate) struct CommandResult {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl TestWorkspace {
    pub(crate) fn at(level: ConfinementLevel) -> Self {
        Self::within(level, &std::env::temp_dir())
    }

    /// Creates a workspace in another directory than the temporary one.
    pub(crate) fn within(level: ConfinementLevel, place: &Path) -> Self {
        let directory = tempfile::tempdir_in(place.canonicalize().unwrap()).unwrap();
        let workspace = directory.path().join("workspace");
        std::fs::create_dir(&workspace).unwrap();
        std::fs::create_dir(directory.path().join("outside")).unwrap();
        std::fs::write(directory.path().join("outside/secret"), "canary\n").unwrap();
        let names = [".git", ".lango", ".agents"]
            .map(|name| ProtectedPath::directory(workspace.join(name)));
        let files =
            [".mcp.json", "AGENTS.md"].map(|name| ProtectedPath::file(workspace.join(name)));
        Self {
            sandbox: Sandbox {
                requirement: LevelRequirement::Exactly(level),
                without: Vec::new(),
                helper: Some(PathBuf::from(env!("CARGO_BIN_EXE_lango-confine"))),
            },
            bounds: JobBounds {
                writable: vec![workspace],
                protected: names.into_iter().chain(files).collect(),
                ..JobBounds::default()
            },
            directory,
        }
    }

    pub(crate) fn without(mut self, part: SandboxPart) -> Self {
        self.sandbox.without.push(part);
        self
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join("workspace").join(name)
    }

    pub(crate) fn outside(&self) -> PathBuf {
        self.directory.path().join("outside")
    }

    pub(crate) fn put(&self, name: &str, content: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    pub(crate) fn content(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// Returns the names in the workspace.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path("")).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn job(&self, command: &str) -> Job {
        Job {
            program: "/bin/sh".into(),
            arguments: ["-c", "--", command].map(Into::into).into(),
            directory: self.path(""),
            environment: vec![("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into())],
            bounds: self.bounds.clone(),
            stdin: Stdio::null(),
            descriptors: Vec::new(),
        }
    }

    pub(crate) async fn start(&self, command: &str) -> Result<ConfinedProcess, SandboxError> {
        self.sandbox.spawn(self.job(command)).await
    }

    pub(crate) async fn try_run(&self, command: &str) -> Result<CommandResult, SandboxError> {
        finish(self.start(command).await?).await
    }

    pub(crate) async fn run(&self, command: &str) -> CommandResult {
        self.try_run(command).await.unwrap()
    }

    /// Runs a command that must fail.
    pub(crate) async fn refuses(&self, command: &str) -> CommandResult {
        let result = self.run(command).await;
        assert_ne!(result.code, Some(0), "{:?}: {command}: {result:?}", self.sandbox.requirement);
        result
    }

    /// Runs a command that must succeed, and returns its output.
    pub(crate) async fn prints(&self, command: &str) -> String {
        let result = self.run(command).await;
        assert_eq!(result.code, Some(0), "{:?}: {command}: {result:?}", self.sandbox.requirement);
        result.out
    }
}

pub(crate) async fn finish(mut confined: ConfinedProcess) -> Result<CommandResult, SandboxError> {
    let (out, err) = (text(confined.stdout.take()), text(confined.stderr.take()));
    let (status, out, err) = tokio::join!(confined.wait(), out, err);
    status.map(|status| CommandResult { code: status.code(), out, err })
}

async fn text(stream: Option<impl AsyncRead + Unpin>) -> String {
    let mut bytes = Vec::new();
    stream.unwrap().read_to_end(&mut bytes).await.unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}
