//! A running team for one client: its runtime and its background services.

use std::sync::Arc;
use std::time::Duration;

use lango_automator::{JobBook, LocalRunner};
use lango_operator::Processes;
use lango_runtime::{Approver, Runtime};
use tokio::sync::mpsc;

use crate::automation::{start_for_owner, take_results};
use crate::provider::ReadyModels;
use crate::remotes::RemoteAgents;
use crate::runtime::RuntimeFactory;
use crate::serving::OwnerApprover;
use crate::team::{Roster, TeamWatcher};
use crate::{AppError, Assembly, Audience, Notice, RunningAutomation};

/// Limits how long the work after a turn may delay the program's exit.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(10);

/// A running team for one client.
pub struct RunningTeam {
    /// Runs turns.
    pub runtime: Runtime,
    /// The models of the agents.
    pub models: Arc<ReadyModels>,
    processes: Processes,
    unmatched_tools: Vec<String>,
    remotes: Option<RemoteAgents>,
    watcher: TeamWatcher,
    mcp_notices: Vec<String>,
    automation: Option<AutomationParts>,
}

/// Holds what due work is run with: agents that are the user's, and an approver that waits for the
/// user's answer wherever it is given.
struct AutomationParts {
    jobs: JobBook,
    factory: RuntimeFactory,
    roster: Roster,
}

impl Assembly {
    /// Starts the team for one client. `approver` asks the user before dangerous calls.
    pub fn runtime(self, approver: Arc<dyn Approver>) -> RunningTeam {
        let Self { roster, factory, processes, jobs, servers, notices, .. } = self;
        let runtime = factory.build_runtime(&roster, approver);
        for warning in roster.remotes.iter().flat_map(RemoteAgents::warnings) {
            runtime.tell_absence(warning);
        }
        let watcher = TeamWatcher::start(&roster, Arc::new(runtime.clone()), servers);
        RunningTeam {
            runtime,
            models: Arc::clone(&factory.models),
            processes,
            unmatched_tools: roster.list_unmatched_tools(),
            remotes: roster.remotes.clone(),
            watcher,
            mcp_notices: notices,
            automation: jobs.map(|jobs| AutomationParts { jobs, factory, roster }),
        }
    }
}

impl RunningTeam {
    /// Returns what a user should know first: which turns were interrupted, what is unavailable, and
    /// whether the model is another one than in the last run. The next run does not repeat the last.
    pub async fn collect_notices(&self) -> Result<Vec<String>, AppError> {
        let mut notices = Vec::new();
        let turns = self.runtime.journal().list_unfinished_turns(None).await?;
        let unfinished = turns.iter().filter(|turn| turn.running.is_none()).count();
        if unfinished > 0 {
            let turns = if unfinished == 1 { "turn was" } else { "turns were" };
            notices.push(format!("{unfinished} {turns} interrupted; go on with: lango resume"));
        }
        notices.extend(take_results(self.runtime.journal()).await?);
        notices.extend(self.models.notices.iter().chain(&self.mcp_notices).cloned());
        self.models.remember_choice();
        if !self.unmatched_tools.is_empty() {
            let tools = self.unmatched_tools.join(", ");
            notices.push(format!("no agent can use {tools}; the reasons: lango agents list"));
        }
        Ok(notices)
    }

    /// Starts to run the user's due work of this workspace, as long as the returned value is kept.
    /// Calls that need an approval wait for it: `lango approvals`. Results are told to the audience of
    /// the notices. Returns none if there is no automator.
    pub fn start_automation(
        &self,
        notice: Notice,
        audience: Audience,
    ) -> Option<RunningAutomation> {
        let AutomationParts { jobs, factory, roster } = self.automation.as_ref()?;
        let approver = Arc::new(OwnerApprover::new(Arc::clone(&notice)));
        let runtime = factory.build_runtime(roster, approver);
        Some(start_for_owner(jobs, runtime, notice, audience))
    }

    /// Notes that this process runs due work as this client, for what users are told about new work.
    pub fn note_runner(&self, runner: LocalRunner) {
        if let Some(jobs) = self.jobs() {
            jobs.set_local_runner(runner);
        }
    }

    /// Returns the jobs, if there is an automator.
    pub fn jobs(&self) -> Option<&JobBook> {
        self.automation.as_ref().map(|parts| &parts.jobs)
    }

    /// Loads approvals of MCP servers' tools that were given in another process.
    pub async fn load_approvals(&self) -> Result<(), AppError> {
        self.watcher.load_approvals().await
    }

    /// Starts to watch for remote agents that come back, and to add them to the team. Returns a
    /// channel of changes, or `None` if there are no remote agents.
    pub fn watch_remotes(&mut self) -> Option<mpsc::Receiver<String>> {
        let remotes = self.remotes.take()?;
        Some(remotes.watch(self.watcher.clone()))
    }

    /// Returns the commands in the background that end with this process.
    pub fn background_commands(&self) -> Vec<String> {
        self.processes.list_running()
    }

    /// Waits for the work that follows answered turns, and returns what could not be done. Work
    /// that takes too long is not waited for.
    pub async fn wait_for_observers(&self) -> Vec<String> {
        let settled = tokio::time::timeout(SETTLE_TIMEOUT, self.runtime.wait_for_observers()).await;
        settled.unwrap_or_else(|_| {
            tracing::warn!("the work that follows answered turns was not waited for any longer");
            Vec::new()
        })
    }

    /// Ends the programs of the MCP servers.
    pub async fn stop_servers(&self) {
        if let Some(servers) = self.watcher.servers() {
            servers.stop().await;
        }
    }
}
