//! Follows commands that keep running while the conversation continues. They end with the process
//! that started them.

use std::collections::BTreeMap;
use std::process::ExitStatus;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use lango_protocol::SessionId;
use lango_sandbox::{ConfinedProcess, SandboxError};
use parking_lot::Mutex;
use serde::Serialize;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::process_log::ProcessEntry;
use super::run_to_end::describe_planted;
use super::tail::OutputTail;
use crate::Records;

/// Limits how many commands run at the same time.
const MAX_RUNNING_COUNT: usize = 16;
/// Limits how many commands are remembered, running or ended.
const MAX_REMEMBERED_COUNT: usize = 64;
/// Limits how many bytes of output are kept of each command.
const MAX_OUTPUT_BYTES: usize = 256 * 1024;
/// Limits how long to wait for processes that hold the pipes of an ended command.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(500);

/// Holds the background commands of this process. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Processes {
    /// A lock because calls run in parallel; it is held for a lookup, never while waiting.
    by_name: Arc<Mutex<BTreeMap<String, Arc<BackgroundProcess>>>>,
    started: Arc<AtomicU64>,
}

/// Tells whether a command runs or how it ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ProcessState {
    Running,
    /// The exit code as a shell reports it: 128 plus the signal number for a signal.
    Exited(Option<i32>),
    Stopped,
    Failed(String),
}

impl ProcessState {
    /// Returns the state in one word.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Exited(_) => "exited",
            Self::Stopped => "stopped",
            Self::Failed(_) => "failed",
        }
    }

    /// Returns the exit code of a command that ended by itself.
    pub(super) fn exit_code(&self) -> Option<i32> {
        match self {
            Self::Exited(code) => *code,
            Self::Running | Self::Stopped | Self::Failed(_) => None,
        }
    }
}

/// Holds one background command.
#[derive(Debug)]
pub(super) struct BackgroundProcess {
    pub(super) entry: ProcessEntry,
    output: Mutex<OutputTail>,
    state: watch::Receiver<ProcessState>,
    stop: CancellationToken,
}

impl BackgroundProcess {
    pub(super) fn state(&self) -> ProcessState {
        self.state.borrow().clone()
    }

    pub(super) fn last_output(&self, max_bytes: usize) -> String {
        self.output.lock().text(max_bytes)
    }

    /// Waits until the command has ended, at most for `limit`.
    pub(super) async fn wait(&self, limit: Duration) {
        let mut state = self.state.clone();
        // A timeout is an expected result here.
        let _ = timeout(limit, state.wait_for(|state| *state != ProcessState::Running)).await;
    }

    /// Ends the command and everything it started.
    pub(super) async fn stop(&self) {
        self.stop.cancel();
        self.wait(Duration::from_secs(10)).await;
    }
}

impl Processes {
    /// Returns the command of this name if it belongs to the session.
    pub(super) fn find(&self, session: &SessionId, name: &str) -> Option<Arc<BackgroundProcess>> {
        let by_name = self.by_name.lock();
        by_name.get(name).filter(|process| process.entry.session == *session).cloned()
    }

    /// Returns the commands of a session, for messages.
    pub(super) fn list_in_session(&self, session: &SessionId) -> Vec<Arc<BackgroundProcess>> {
        let by_name = self.by_name.lock();
        by_name.values().filter(|process| process.entry.session == *session).cloned().collect()
    }

    /// Returns the commands that still run, of all sessions.
    pub fn list_running(&self) -> Vec<String> {
        let by_name = self.by_name.lock();
        let running = by_name.values().filter(|process| process.state() == ProcessState::Running);
        running.map(|process| process.entry.command.clone()).collect()
    }

    /// Returns a name that no command of this process had before.
    pub(super) fn next_name(&self) -> String {
        format!("p{}", self.started.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Tells whether another command may be started.
    pub(super) fn can_start(&self) -> bool {
        self.list_running().len() < MAX_RUNNING_COUNT
    }

    /// Follows a command that was started.
    pub(super) fn add_and_follow(
        &self,
        entry: ProcessEntry,
        mut confined: ConfinedProcess,
        records: Records,
    ) -> Arc<BackgroundProcess> {
        let (sender, state) = watch::channel(ProcessState::Running);
        let process = Arc::new(BackgroundProcess {
            entry,
            output: Mutex::new(OutputTail::new(MAX_OUTPUT_BYTES)),
            state,
            stop: CancellationToken::new(),
        });
        self.add_process(Arc::clone(&process));
        let followed = Arc::clone(&process);
        tokio::spawn(async move {
            let streams = (confined.stdout.take(), confined.stderr.take());
            let reading = async {
                tokio::join!(read_output(&followed, streams.0), read_output(&followed, streams.1));
            };
            let state = tokio::select! {
                biased;
                () = followed.stop.cancelled() => None,
                status = wait_and_end(&mut confined, reading) => Some(status),
            };
            let ended = confined.end().await;
            for planted in ended.iter().flatten() {
                let note = format!("\n({})\n", describe_planted(planted));
                followed.output.lock().push(note.as_bytes());
            }
            let state = match (state, ended) {
                (Some(Ok(status)), _) => ProcessState::Exited(status.code()),
                (Some(Err(error)), _) | (None, Err(error)) => {
                    ProcessState::Failed(error.to_string())
                }
                (None, Ok(_)) => ProcessState::Stopped,
            };
            records.record_process_end(&followed.entry.id, &state).await;
            // There may be no receiver.
            let _ = sender.send(state);
        });
        process
    }

    fn add_process(&self, process: Arc<BackgroundProcess>) {
        let mut by_name = self.by_name.lock();
        by_name.insert(process.entry.name.clone(), process);
        while by_name.len() > MAX_REMEMBERED_COUNT {
            let ended = by_name.values().filter(|process| process.state() != ProcessState::Running);
            let Some(oldest) = ended.min_by_key(|process| process.entry.started) else { break };
            let name = oldest.entry.name.clone();
            by_name.remove(&name);
        }
    }
}

async fn wait_and_end(
    confined: &mut ConfinedProcess,
    reading: impl Future<Output = ()>,
) -> Result<ExitStatus, SandboxError> {
    let mut reading = std::pin::pin!(reading);
    let mut is_read = false;
    loop {
        tokio::select! {
            status = confined.wait() => {
                if !is_read {
                    // A timeout is no error: what was read by now is the output.
                    let _ = timeout(DRAIN_TIMEOUT, &mut reading).await;
                }
                return status;
            }
            () = &mut reading, if !is_read => is_read = true,
        }
    }
}

async fn read_output(process: &BackgroundProcess, stream: Option<impl AsyncRead + Unpin>) {
    let Some(mut stream) = stream else { return };
    let mut buffer = vec![0; 32 * 1024];
    // A read error ends the stream.
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        process.output.lock().push(&buffer[..count]);
    }
}
