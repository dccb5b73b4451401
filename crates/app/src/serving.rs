//! The teams of a server, for all of its API clients.

use std::sync::Arc;
use std::time::Duration;

use lango_automator::JobBook;
use lango_protocol::AgentName;
use lango_runtime::{ApprovalFuture, ApprovalRequest, Approver};
use lango_server::Callers;
use lango_store::{Database, Journal};
use tokio::sync::mpsc;

use crate::access::{ServedTeams, ServedTeamsParts};
use crate::team::{TeamListener, TeamWatcher};
use crate::{AppError, Assembly};

/// Limits how long the work after turns may delay the program's exit.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(5);
/// Sets how often approvals of tools are looked for.
const APPROVAL_INTERVAL: Duration = Duration::from_secs(5);

/// Shows a line to the operator of the machine, outside of what is served.
pub type Notice = Arc<dyn Fn(&str) + Send + Sync>;

/// Holds everything that is served.
pub struct ServedAssembly {
    /// The teams of the API clients.
    pub teams: Arc<ServedTeams>,
    /// The API clients.
    pub callers: Callers,
    /// The database.
    pub database: Database,
    /// The journal in it.
    pub journal: Journal,
    pub(crate) jobs: Option<JobBook>,
    watcher: TeamWatcher,
    pub(crate) notice: Notice,
}

/// Selects what API clients reach.
pub struct ServeOptions {
    /// The agents; all when empty.
    pub expose: Vec<AgentName>,
    /// The agents whose tools may be called directly.
    pub tools: Vec<AgentName>,
    /// Values that must not be recorded or shown, besides the secrets of the configuration.
    pub secrets: Vec<String>,
    /// Shows lines to the operator of the machine.
    pub notice: Notice,
}

impl Assembly {
    /// Builds the teams of a server. Fails before the server listens.
    pub async fn serve(self, options: ServeOptions) -> Result<ServedAssembly, AppError> {
        let Self { roster, mut factory, stores, jobs, servers, notices, .. } = self;
        let ServeOptions { expose, tools, secrets, notice } = options;
        let choice = &factory.models.choice;
        if choice.is_last_resort {
            notice(&format!("{} answers: {}", choice.id, choice.why));
        }
        factory.models.notices.iter().chain(&notices).for_each(|line| notice(line));
        factory.models.remember_choice();
        factory.secrets.extend(secrets);
        let callers = Callers::open(stores.database.clone()).await?;
        let teams = Arc::new(ServedTeams::new(ServedTeamsParts {
            roster,
            factory,
            notice: Arc::clone(&notice),
            approver: Arc::new(OwnerApprover { notice: Arc::clone(&notice) }),
            callers: callers.clone(),
            expose,
            tools,
        })?);
        let roster = teams.roster();
        let listener = Arc::clone(&teams) as Arc<dyn TeamListener>;
        let watcher = TeamWatcher::start(&roster, listener, servers);
        if watcher.servers().is_some() {
            load_approvals(watcher.clone(), Arc::clone(&notice));
        }
        if let Some(remotes) = roster.remotes {
            remotes.warnings().iter().for_each(|line| notice(line));
            report_changes(remotes.watch(watcher.clone()), Arc::clone(&notice));
        }
        let crate::Stores { database, journal } = stores;
        Ok(ServedAssembly { teams, callers, database, journal, jobs, watcher, notice })
    }
}

impl ServedAssembly {
    /// Waits for the work that follows turns, reports what was not finished, and stops the MCP
    /// servers.
    pub async fn end(&self) {
        let left = self.teams.count_running_turns();
        if left > 0 {
            (self.notice)(&format!("{left} turns did not end in time; go on with: lango resume"));
        } else if let Ok(errors) =
            tokio::time::timeout(SETTLE_TIMEOUT, self.teams.wait_for_observers()).await
        {
            for error in &errors {
                (self.notice)(error);
            }
        }
        if let Some(servers) = self.watcher.servers() {
            servers.stop().await;
        }
    }
}

/// Loads the owner's approvals of MCP servers' tools from other processes, as long as this one
/// runs.
fn load_approvals(watcher: TeamWatcher, notice: Notice) {
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(APPROVAL_INTERVAL).await;
            if let Err(error) = watcher.load_approvals().await {
                notice(&error.to_string());
            }
        }
    });
}

/// Reports changes of the remote agents, as long as the program runs.
fn report_changes(mut news: mpsc::Receiver<String>, notice: Notice) {
    tokio::spawn(async move {
        while let Some(line) = news.recv().await {
            notice(&line);
        }
    });
}

/// Waits for the owner, who answers through the journal, or until the question expires. An API
/// client never answers for itself.
pub(crate) struct OwnerApprover {
    notice: Notice,
}

impl OwnerApprover {
    pub(crate) fn new(notice: Notice) -> Self {
        Self { notice }
    }
}

impl Approver for OwnerApprover {
    fn ask(&self, request: ApprovalRequest) -> ApprovalFuture {
        let ApprovalRequest { session, call, agent, tool, .. } = request;
        (self.notice)(&format!(
            "{agent} waits for your approval of {tool} (session {session}). See it: lango approvals \
             show {call}. Answer: lango approvals approve {call}, or deny {call}"
        ));
        Box::pin(std::future::pending())
    }
}
