//! One run of the binary, from its arguments to its exit code.

use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

use crate::fixture::Lango;
use crate::journal::Turn;
use crate::typing::{Screen, TypingSession};

/// Limits what a test waits for. It is longer than any test needs on a busy machine: a command that
/// reaches it hangs.
pub(crate) const TEST_TIMEOUT: Duration = Duration::from_mins(1);

/// The binary with arguments, about to run.
pub(crate) struct Invocation<'a> {
    lango: &'a Lango,
    command: Command,
    input: Vec<u8>,
}

/// How a run ended.
#[derive(Debug)]
pub(crate) struct CommandOutput {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl<'a> Invocation<'a> {
    pub(crate) fn new(lango: &'a Lango, arguments: &[&str]) -> Self {
        Self::of(env!("CARGO_BIN_EXE_lango"), lango, arguments)
    }

    /// A program that runs the binary in turn.
    pub(crate) fn of(program: &str, lango: &'a Lango, arguments: &[&str]) -> Self {
        let mut command = Command::new(program);
        command
            .args(arguments)
            .current_dir(lango.workspace())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap())
            .env("HOME", lango.path("user"))
            .env("LANGO_HOME", lango.home())
            // Tests do not wait between retries, and what runs on this machine is not a part of it.
            .env("LANGO_RETRY_FIRSTWAITMILLISECONDS", "1")
            .env("LANGO_MODEL_DISCOVER", "false")
            // A script says what agents say; who wants an observer too says so.
            .env("LANGO_OBSERVATIONALMEMORY_MODEL", "none")
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        Self { lango, command, input: Vec::new() }
    }

    /// More arguments.
    pub(crate) fn with(mut self, arguments: &[&str]) -> Self {
        self.command.args(arguments);
        self
    }

    /// A variable of the environment.
    pub(crate) fn set(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Without vault, librarian, chronicler and automator: operator, navigator and planner are left.
    pub(crate) fn small_team(self) -> Self {
        self.set("LANGO_LIBRARIAN_ENABLED", "false")
            .set("LANGO_AUTOMATOR_ENABLED", "false")
            .set("LANGO_GRAPH_ENABLED", "false")
            .set("LANGO_OBSERVATIONALMEMORY_ENABLED", "false")
            .set("LANGO_VAULT_ENABLED", "false")
    }

    /// Without a variable.
    pub(crate) fn unset(mut self, name: &str) -> Self {
        self.command.env_remove(name);
        self
    }

    /// What comes on standard input. Nothing unless given.
    pub(crate) fn input(mut self, input: impl Into<Vec<u8>>) -> Self {
        self.input = input.into();
        self
    }

    /// Starts it.
    pub(crate) fn start(self) -> Running<'a> {
        let mut running = self.start_unread();
        running.stdout = running.child.stdout.take().map(read);
        running
    }

    /// Starts it with an output that is held open and not read.
    pub(crate) fn start_unread(mut self) -> Running<'a> {
        let input = std::mem::take(&mut self.input);
        let stdin = if input.is_empty() { Stdio::null() } else { Stdio::piped() };
        let mut child = self.command.stdin(stdin).spawn().unwrap();
        if let Some(mut stdin) = child.stdin.take() {
            // A program that does not read all of it is not the test's concern.
            tokio::spawn(async move { stdin.write_all(&input).await });
        }
        let stderr = read(child.stderr.take().unwrap());
        Running { lango: self.lango, child, stdout: None, stderr }
    }

    /// Starts it and waits until it has printed a line that begins like this; gives all that it
    /// printed up to there.
    pub(crate) async fn start_until(self, beginning: &str) -> (Running<'a>, String) {
        let mut running = self.start_unread();
        let mut lines = BufReader::new(running.child.stdout.take().unwrap()).lines();
        let mut printed = String::new();
        loop {
            let line = tokio::time::timeout(TEST_TIMEOUT, lines.next_line()).await;
            let Some(line) = line.expect("lango hangs").unwrap() else {
                let ended = running.finish().await;
                panic!("it ended before it printed {beginning:?}: {printed}{ended:?}");
            };
            printed.push_str(&line);
            printed.push('\n');
            if line.starts_with(beginning) {
                break;
            }
        }
        running.stdout = Some(read(lines.into_inner()));
        (running, printed)
    }

    /// Starts it with keys that are typed later.
    pub(crate) fn start_typing(mut self) -> TypingSession<'a> {
        let mut child = self.command.stdin(Stdio::piped()).spawn().unwrap();
        let keys = child.stdin.take().unwrap();
        let screen = Screen::reading(child.stdout.take().unwrap());
        let stderr = read(child.stderr.take().unwrap());
        let running = Running { lango: self.lango, child, stdout: None, stderr };
        TypingSession::new(running, keys, screen)
    }

    /// Runs it to its end.
    pub(crate) async fn run(self) -> CommandOutput {
        self.start().finish().await
    }

    /// Runs one turn to its end and checks everything that holds for every turn.
    pub(crate) async fn turn(self) -> Turn {
        self.start().turn().await
    }
}

/// Reads while the binary runs: one that prints more than a pipe holds would wait for it.
fn read(mut pipe: impl AsyncRead + Unpin + Send + 'static) -> JoinHandle<Vec<u8>> {
    tokio::spawn(async move {
        let mut bytes = Vec::new();
        pipe.read_to_end(&mut bytes).await.unwrap();
        bytes
    })
}

/// The binary under way. Killed when dropped.
pub(crate) struct Running<'a> {
    lango: &'a Lango,
    child: Child,
    stdout: Option<JoinHandle<Vec<u8>>>,
    stderr: JoinHandle<Vec<u8>>,
}

impl Running<'_> {
    pub(crate) fn id(&self) -> u32 {
        self.child.id().expect("it is still running")
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let id = i32::try_from(self.id()).unwrap();
        kill_process(Pid::from_raw(id).unwrap(), signal).unwrap();
    }

    /// Kills it as nothing can be prepared for, and waits until it is gone.
    pub(crate) async fn kill(mut self) {
        self.signal(Signal::KILL);
        self.child.wait().await.unwrap();
    }

    /// Sends a signal until it has ended, and returns how. A handler may take the first one.
    pub(crate) async fn end_by(mut self, signal: Signal) -> ExitStatus {
        let begin = Instant::now();
        loop {
            self.signal(signal);
            let soon = tokio::time::timeout(Duration::from_millis(200), self.child.wait());
            if let Ok(status) = soon.await {
                return status.unwrap();
            }
            assert!(begin.elapsed() < TEST_TIMEOUT, "it survives {signal:?}");
        }
    }

    /// Closes the reader of what it prints.
    pub(crate) async fn without_reader(mut self) -> Self {
        if let Some(reader) = self.stdout.take() {
            reader.abort();
            // The pipe is closed once its reader is gone.
            assert!(reader.await.is_err_and(|error| error.is_cancelled()));
        }
        self
    }

    pub(crate) async fn finish(mut self) -> CommandOutput {
        let status = tokio::time::timeout(TEST_TIMEOUT, self.child.wait()).await;
        let stdout = match self.stdout.take() {
            Some(reader) => reader.await.unwrap(),
            None => Vec::new(),
        };
        CommandOutput {
            code: status.expect("lango hangs").unwrap().code().expect("lango was killed"),
            stdout: String::from_utf8(stdout).unwrap(),
            stderr: String::from_utf8(self.stderr.await.unwrap()).unwrap(),
        }
    }

    pub(crate) async fn turn(self) -> Turn {
        let lango = self.lango;
        let finished = self.finish().await;
        Turn::read(lango, finished).await
    }
}

/// Waits until something holds, which must be soon.
pub(crate) async fn until(what: &str, holds: impl Fn() -> bool) {
    let deadline = Instant::now() + TEST_TIMEOUT;
    while !holds() {
        assert!(Instant::now() < deadline, "{what} did not happen");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}
