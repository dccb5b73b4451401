//! The servers: processes that are started, killed, stopped and continued.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use parking_lot::Mutex;
use rustix::process::{Pid, Signal, kill_process};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

/// The token of the clients.
pub(crate) const TOKEN: &str = "lango_chaos_0123456789abcdefghijklmnop";
/// How long a server may take to start or to end, on a busy machine and after faults.
const START_TIMEOUT: Duration = Duration::from_secs(90);

/// What every server is started with.
#[derive(Debug, Clone)]
pub(crate) struct ServerSettings {
    pub(crate) lango: PathBuf,
    pub(crate) directory: PathBuf,
    pub(crate) model: String,
    pub(crate) database: Option<String>,
    pub(crate) role: ProcessRole,
}

/// What the processes do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProcessRole {
    /// `lango serve`.
    Server,
    /// `lango worker`.
    Worker,
}

/// The servers of one database.
#[derive(Debug)]
pub(crate) struct Fleet {
    settings: ServerSettings,
    slots: Vec<tokio::sync::Mutex<Option<Child>>>,
    addresses: Vec<Mutex<Option<SocketAddr>>>,
}

impl Fleet {
    /// Describes servers, none of which runs yet.
    pub(crate) fn new(settings: ServerSettings, count: usize) -> Self {
        Self {
            settings,
            slots: (0..count).map(|_| tokio::sync::Mutex::default()).collect(),
            addresses: (0..count).map(|_| Mutex::default()).collect(),
        }
    }

    /// Returns how many servers there are.
    pub(crate) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Returns the address of a server, if it runs.
    pub(crate) fn address(&self, index: usize) -> Option<SocketAddr> {
        *self.addresses[index % self.addresses.len()].lock()
    }

    /// Starts every server that does not run.
    pub(crate) async fn start_all(&self) -> Result<()> {
        for index in 0..self.len() {
            self.start(index).await?;
        }
        Ok(())
    }

    /// Starts a server, unless it runs, and waits until it answers. One that gives up, because its
    /// database does not answer, is started again.
    pub(crate) async fn start(&self, index: usize) -> Result<()> {
        let mut slot = self.slots[index].lock().await;
        if slot.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(None))) {
            return Ok(());
        }
        let starting = async {
            loop {
                if let Ok(started) = self.launch().await {
                    return started;
                }
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
        };
        let (child, address) =
            tokio::time::timeout(START_TIMEOUT, starting).await.context("no process starts")?;
        *slot = Some(child);
        *self.addresses[index].lock() = address;
        Ok(())
    }

    async fn launch(&self) -> Result<(Child, Option<SocketAddr>)> {
        let ServerSettings { lango, directory, model, database, role } = &self.settings;
        let mut command = Command::new(lango);
        command
            .args(match role {
                ProcessRole::Server => ["serve", "--port", "0"].as_slice(),
                ProcessRole::Worker => ["worker"].as_slice(),
            })
            .current_dir(directory.join("workspace"))
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", directory.join("user"))
            .env("LANGO_HOME", directory.join("home"))
            .env("LANGO_MODEL_NAME", "openai/gpt-5-mini")
            .env("LANGO_SERVER_TOKEN", TOKEN)
            .env("LANGO_OBSERVATIONALMEMORY_MODEL", "none")
            .env("OPENAI_BASE_URL", model)
            .env("OPENAI_API_KEY", "none")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        if let Some(url) = database {
            command.env("LANGO_DATABASE_URL", url);
        }
        let mut child = command.spawn()?;
        let output = child.stdout.take().context("the server has no output")?;
        let mut lines = BufReader::new(output).lines();
        while let Some(line) = lines.next_line().await? {
            let address = line.strip_prefix("Lango serves at http://");
            if address.is_some() || line.starts_with("Lango runs the jobs") {
                let address = address.map(|address| address.trim().parse()).transpose()?;
                // Its later lines are discarded, so that it does not wait for a reader.
                tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
                return Ok((child, address));
            }
        }
        bail!("the process ended before it was ready")
    }

    /// Kills a server with `kill -9`.
    pub(crate) async fn kill(&self, index: usize) {
        self.end(index, Signal::KILL).await;
    }

    /// Ends a server as a service manager does.
    pub(crate) async fn stop(&self, index: usize) {
        self.end(index, Signal::TERM).await;
    }

    /// Stops every server.
    pub(crate) async fn stop_all(&self) {
        for index in 0..self.len() {
            self.stop(index).await;
        }
    }

    async fn end(&self, index: usize, signal: Signal) {
        let mut slot = self.slots[index].lock().await;
        *self.addresses[index].lock() = None;
        let Some(mut child) = slot.take() else { return };
        signal_child(&child, signal);
        if tokio::time::timeout(START_TIMEOUT, child.wait()).await.is_err() {
            // It does not end by itself. That is for other tests to find.
            let _ = child.kill().await;
        }
    }

    /// Stops a process for a while, without it knowing.
    pub(crate) async fn pause(&self, index: usize, time: Duration) {
        let slot = self.slots[index].lock().await;
        if let Some(child) = slot.as_ref() {
            signal_child(child, Signal::STOP);
            tokio::time::sleep(time).await;
            signal_child(child, Signal::CONT);
        }
    }
}

fn signal_child(child: &Child, signal: Signal) {
    let id = child.id().and_then(|id| i32::try_from(id).ok()).and_then(Pid::from_raw);
    if let Some(id) = id {
        // A process that has ended already needs no signal.
        let _ = kill_process(id, signal);
    }
}
