//! A team at work for one client: its runtime, and what lives beside it.

use std::sync::Arc;
use std::time::Duration;

use lango_operator::Processes;
use lango_runtime::{Approver, Runtime};
use tokio::sync::mpsc;

use crate::provider::ReadyModels;
use crate::remotes::Remotes;
use crate::team::TeamWatcher;
use crate::{AppError, Assembly};

/// Limits how long the work after a turn may keep a program that is done.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(10);

/// A team at work for one client.
pub struct RunningTeam {
    /// Runs turns.
    pub runtime: Runtime,
    /// The models that work.
    pub models: Arc<ReadyModels>,
    processes: Processes,
    unmatched_tools: Vec<String>,
    remotes: Option<Remotes>,
    watcher: TeamWatcher,
    mcp_notices: Vec<String>,
}

impl Assembly {
    /// Starts the team for one client. `approver` asks a person before something dangerous.
    pub fn runtime(self, approver: Arc<dyn Approver>) -> RunningTeam {
        let Self { roster, factory, processes, servers, notices, .. } = self;
        let runtime = factory.runtime(&roster, approver);
        for warning in roster.remotes.iter().flat_map(Remotes::warnings) {
            runtime.tell_absence(warning);
        }
        let watcher = TeamWatcher::start(&roster, Arc::new(runtime.clone()), servers);
        RunningTeam {
            runtime,
            models: factory.models,
            processes,
            unmatched_tools: roster.unmatched_tools(),
            remotes: roster.remotes,
            watcher,
            mcp_notices: notices,
        }
    }
}

impl RunningTeam {
    /// Returns what a user should know before anything else: what was interrupted, and what is out
    /// of reach.
    pub async fn notices(&self) -> Result<Vec<String>, AppError> {
        let mut notices = Vec::new();
        let turns = self.runtime.journal().unfinished_turns(None).await?;
        let unfinished = turns.iter().filter(|turn| turn.running.is_none()).count();
        if unfinished > 0 {
            let turns = if unfinished == 1 { "turn was" } else { "turns were" };
            notices.push(format!("{unfinished} {turns} interrupted; go on with: lango resume"));
        }
        notices.extend(self.models.notices.iter().chain(&self.mcp_notices).cloned());
        if !self.unmatched_tools.is_empty() {
            let tools = self.unmatched_tools.join(", ");
            notices.push(format!("no agent can use {tools}; the reasons: lango agents list"));
        }
        Ok(notices)
    }

    /// Takes in what was approved of MCP servers' tools in another process.
    pub async fn look_again(&self) -> Result<(), AppError> {
        self.watcher.look_again().await
    }

    /// Starts to look for remote agents that come back, and to take them into the team. Returns what
    /// changes; none where there are no remote agents.
    pub fn watch_remotes(&mut self) -> Option<mpsc::Receiver<String>> {
        let remotes = self.remotes.take()?;
        Some(remotes.watch(self.watcher.clone()))
    }

    /// Returns the commands in the background that end with this process.
    pub fn background_commands(&self) -> Vec<String> {
        self.processes.running()
    }

    /// Waits for what follows from the turns, now that they are answered, and returns what could not
    /// be done. Work that takes too long is not waited for.
    pub async fn settle(&self) -> Vec<String> {
        let settled = tokio::time::timeout(SETTLE_TIMEOUT, self.runtime.settled()).await;
        settled.unwrap_or_default()
    }

    /// ConnectionEnds the programs of the MCP servers.
    pub async fn stop_servers(&self) {
        if let Some(servers) = self.watcher.servers() {
            servers.stop().await;
        }
    }
}
