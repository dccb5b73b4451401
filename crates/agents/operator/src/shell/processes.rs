//! Commands that go on while the conversation does. They end with the process that started them.

use std::collections::BTreeMap;
use std::process::ExitStatus;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use lango_protocol::SessionId;
use lango_sandbox::{Confined, SandboxError};
use serde::Serialize;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::sync::watch;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::process_log::Entry;
use super::tail::Tail;
use crate::Records;

/// Commands that run at the same time.
const AT_ONCE: usize = 16;
/// Commands that are remembered once they have ended.
const REMEMBERED: usize = 64;
/// Bytes of output that are kept of each.
const OUTPUT: usize = 256 * 1024;
/// How long whoever holds the pipes of an ended command is waited for.
const GRACE: Duration = Duration::from_millis(500);

/// The commands of this process. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct Processes {
    /// A lock because calls run in parallel; it is held to look something up, never to wait.
    known: Arc<Mutex<BTreeMap<String, Arc<Process>>>>,
    started: Arc<AtomicU64>,
}

/// How a command stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum State {
    Running,
    /// The code is that of a shell: 128 and the number of a signal.
    Exited(Option<i32>),
    Stopped,
    Failed(String),
}

impl State {
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

/// One command.
#[derive(Debug)]
pub(super) struct Process {
    pub(super) entry: Entry,
    output: Mutex<Tail>,
    state: watch::Receiver<State>,
    stop: CancellationToken,
}

impl Process {
    pub(super) fn state(&self) -> State {
        self.state.borrow().clone()
    }

    pub(super) fn output(&self, most: usize) -> String {
        lock(&self.output).text(most)
    }

    /// Waits until it has ended, but not longer than this.
    pub(super) async fn wait(&self, longest: Duration) {
        let mut state = self.state.clone();
        // Running out of patience is what was asked for.
        let _ = timeout(longest, state.wait_for(|state| *state != State::Running)).await;
    }

    /// Ends it and everything it started.
    pub(super) async fn stop(&self) {
        self.stop.cancel();
        self.wait(Duration::from_secs(10)).await;
    }
}

impl Processes {
    /// The command of this name, where it belongs to the session.
    pub(super) fn find(&self, session: &SessionId, name: &str) -> Option<Arc<Process>> {
        let known = lock(&self.known);
        known.get(name).filter(|process| process.entry.session == *session).cloned()
    }

    /// Those of a session, for messages.
    pub(super) fn of(&self, session: &SessionId) -> Vec<Arc<Process>> {
        let known = lock(&self.known);
        known.values().filter(|process| process.entry.session == *session).cloned().collect()
    }

    /// Commands that still run, whatever the session.
    pub fn running(&self) -> Vec<String> {
        let known = lock(&self.known);
        let running = known.values().filter(|process| process.state() == State::Running);
        running.map(|process| process.entry.command.clone()).collect()
    }

    /// A name that no command of this process had before.
    pub(super) fn next_name(&self) -> String {
        format!("p{}", self.started.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Whether another one may be started.
    pub(super) fn has_room(&self) -> bool {
        self.running().len() < AT_ONCE
    }

    /// Follows a command that was started.
    pub(super) fn follow(
        &self,
        entry: Entry,
        mut confined: Confined,
        records: Records,
    ) -> Arc<Process> {
        let (sender, state) = watch::channel(State::Running);
        let process = Arc::new(Process {
            entry,
            output: Mutex::new(Tail::new(OUTPUT)),
            state,
            stop: CancellationToken::new(),
        });
        self.remember(Arc::clone(&process));
        let followed = Arc::clone(&process);
        tokio::spawn(async move {
            let streams = (confined.stdout.take(), confined.stderr.take());
            let reading = async {
                tokio::join!(read(&followed, streams.0), read(&followed, streams.1));
            };
            let state = tokio::select! {
                biased;
                () = followed.stop.cancelled() => None,
                status = end(&mut confined, reading) => Some(status),
            };
            let state = match state {
                Some(Ok(status)) => State::Exited(status.code()),
                Some(Err(error)) => State::Failed(error.to_string()),
                None => match confined.end().await {
                    Ok(()) => State::Stopped,
                    Err(error) => State::Failed(error.to_string()),
                },
            };
            records.process_ended(&followed.entry.id, &state).await;
            // Nobody may be waiting.
            let _ = sender.send(state);
        });
        process
    }

    fn remember(&self, process: Arc<Process>) {
        let mut known = lock(&self.known);
        known.insert(process.entry.name.clone(), process);
        while known.len() > REMEMBERED {
            let ended = known.values().filter(|process| process.state() != State::Running);
            let Some(oldest) = ended.min_by_key(|process| process.entry.started) else { break };
            let name = oldest.entry.name.clone();
            known.remove(&name);
        }
    }
}

async fn end(
    confined: &mut Confined,
    reading: impl Future<Output = ()>,
) -> Result<ExitStatus, SandboxError> {
    let mut reading = std::pin::pin!(reading);
    let mut is_read = false;
    loop {
        tokio::select! {
            status = confined.wait() => {
                if !is_read {
                    let _ = timeout(GRACE, &mut reading).await;
                }
                return status;
            }
            () = &mut reading, if !is_read => is_read = true,
        }
    }
}

async fn read(process: &Process, stream: Option<impl AsyncRead + Unpin>) {
    let Some(mut stream) = stream else { return };
    let mut buffer = vec![0; 32 * 1024];
    // A pipe that breaks is over.
    while let Ok(count @ 1..) = stream.read(&mut buffer).await {
        lock(&process.output).push(&buffer[..count]);
    }
}

/// What a panic left behind is as good as before: nothing here is ever half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
