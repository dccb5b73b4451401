//! A workspace with an outside next to it, and commands that run in it.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use lango_sandbox::{
    Bounds, Confined, Job, Level, Part, Protected, Requirement, Sandbox, SandboxError,
};
use tempfile::TempDir;
use tokio::io::{AsyncRead, AsyncReadExt as _};

/// The levels that confine, both of which must be there where the tests run.
pub(crate) const LEVELS: [Level; 2] = [Level::Bubblewrap, Level::Landlock];

pub(crate) struct Room {
    directory: TempDir,
    pub(crate) sandbox: Sandbox,
    pub(crate) bounds: Bounds,
}

/// How a command ended, and what it said.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Room {
    pub(crate) fn at(level: Level) -> Self {
        Self::within(level, &std::env::temp_dir())
    }

    /// A room somewhere else than in the directory for temporary files.
    pub(crate) fn within(level: Level, place: &Path) -> Self {
        let directory = tempfile::tempdir_in(place.canonicalize().unwrap()).unwrap();
        let workspace = directory.path().join("workspace");
        std::fs::create_dir(&workspace).unwrap();
        std::fs::create_dir(directory.path().join("outside")).unwrap();
        std::fs::write(directory.path().join("outside/secret"), "canary\n").unwrap();
        let names =
            [".git", ".lango", ".agents"].map(|name| Protected::directory(workspace.join(name)));
        let files = [".mcp.json", "AGENTS.md"].map(|name| Protected::file(workspace.join(name)));
        Self {
            sandbox: Sandbox {
                requirement: Requirement::Exactly(level),
                without: Vec::new(),
                helper: Some(PathBuf::from(env!("CARGO_BIN_EXE_lango-confine"))),
            },
            bounds: Bounds {
                writable: vec![workspace],
                protected: names.into_iter().chain(files).collect(),
                ..Bounds::default()
            },
            directory,
        }
    }

    pub(crate) fn without(mut self, part: Part) -> Self {
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

    /// The names in the workspace.
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
        }
    }

    pub(crate) async fn start(&self, command: &str) -> Result<Confined, SandboxError> {
        self.sandbox.spawn(self.job(command)).await
    }

    pub(crate) async fn try_run(&self, command: &str) -> Result<Said, SandboxError> {
        finish(self.start(command).await?).await
    }

    pub(crate) async fn run(&self, command: &str) -> Said {
        self.try_run(command).await.unwrap()
    }

    /// Runs a command that must fail.
    pub(crate) async fn refuses(&self, command: &str) -> Said {
        let said = self.run(command).await;
        assert_ne!(said.code, Some(0), "{:?}: {command}: {said:?}", self.sandbox.requirement);
        said
    }

    /// Runs a command that must succeed, for what it prints.
    pub(crate) async fn prints(&self, command: &str) -> String {
        let said = self.run(command).await;
        assert_eq!(said.code, Some(0), "{:?}: {command}: {said:?}", self.sandbox.requirement);
        said.out
    }
}

pub(crate) async fn finish(mut confined: Confined) -> Result<Said, SandboxError> {
    let (out, err) = (text(confined.stdout.take()), text(confined.stderr.take()));
    let (status, out, err) = tokio::join!(confined.wait(), out, err);
    status.map(|status| Said { code: status.code(), out, err })
}

async fn text(stream: Option<impl AsyncRead + Unpin>) -> String {
    let mut bytes = Vec::new();
    stream.unwrap().read_to_end(&mut bytes).await.unwrap();
    String::from_utf8_lossy(&bytes).into_owned()
}
