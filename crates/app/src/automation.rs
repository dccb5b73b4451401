//! Runs due work: jobs and background tasks, with the teams that a client has.

use std::sync::Arc;
use std::time::Duration;

use lango_automator::{
    AutomationService, JobBook, Notifier, Presence, ServiceKind, WORKFLOW_KIND,
    WORKFLOW_QUESTION_KIND,
};
use lango_protocol::Space;
use lango_runtime::{Runtime, Teams, WorkListener, WorkRunner};
use lango_store::{Journal, WorkItem, WorkScope, WorkState};
use lango_text::{make_visible, to_one_line};
use tokio_util::sync::CancellationToken;

use crate::{AppError, Notice, ServedAssembly};

/// Limits the characters of a result in a notice.
const MAX_RESULT_CHARACTERS: usize = 400;

/// Limits how long a command waits for its notifications to be delivered.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(10);

/// Limits the results that a user is told when a client starts.
const MAX_TOLD_COUNT: u32 = 5;

/// Runs due work until it is stopped or dropped.
pub struct RunningAutomation {
    stop: CancellationToken,
    runtime: Option<Runtime>,
    notifier: Arc<Notifier>,
}

impl RunningAutomation {
    /// Starts nothing more. Work that runs goes on.
    pub fn stop(&self) {
        self.stop.cancel();
    }

    /// Starts nothing more, and waits until the work that runs has ended and its notifications are
    /// delivered, or the time is over. Returns how many turns still run.
    pub async fn finish(self, limit: Duration) -> usize {
        self.stop();
        let Some(runtime) = &self.runtime else { return 0 };
        let ended = async {
            while runtime.turns_under_way() > 0 {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        // What still runs is counted below.
        drop(tokio::time::timeout(limit, ended).await);
        // What was not delivered in time is delivered by the next process.
        drop(tokio::time::timeout(limit, self.notifier.settle()).await);
        runtime.turns_under_way()
    }

    /// Starts nothing more, and delivers the notifications of what has ended. Work that runs or waits
    /// for a person goes on with the next process.
    pub async fn leave(self) {
        self.stop();
        drop(tokio::time::timeout(LEAVE_TIMEOUT, self.notifier.settle()).await);
    }
}

impl Drop for RunningAutomation {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

/// Starts to run the owner's due work of a workspace, with a runtime of its own.
pub(crate) fn start_for_owner(
    jobs: &JobBook,
    runtime: Runtime,
    notice: Notice,
    presence: Option<Presence>,
) -> RunningAutomation {
    let scope =
        WorkScope { workspace: Some(jobs.settings().workspace.clone()), includes_clients: false };
    let teams = Arc::new(runtime.clone()) as Arc<dyn Teams>;
    let (stop, notifier) = start(jobs, teams, scope, notice, presence);
    RunningAutomation { stop, runtime: Some(runtime), notifier }
}

fn start(
    jobs: &JobBook,
    teams: Arc<dyn Teams>,
    scope: WorkScope,
    notice: Notice,
    presence: Option<Presence>,
) -> (CancellationToken, Arc<Notifier>) {
    let listener = Arc::new(NoticeListener { jobs: jobs.clone(), notice });
    let limit = jobs.settings().parallel_work;
    let runner =
        WorkRunner::new(jobs.journal().clone(), teams, scope, limit, Arc::clone(&listener) as _);
    let service = AutomationService::new(jobs.clone(), runner, listener);
    let stop = CancellationToken::new();
    if let Some(presence) = presence {
        tokio::spawn(presence.keep_telling(stop.clone()));
    }
    let notifier = service.notifier();
    tokio::spawn(service.run(stop.clone()));
    (stop, notifier)
}

impl ServedAssembly {
    /// Starts to run the due work of the owner and of the API clients, each with their own agents.
    pub(crate) fn start_automation(&self) -> Option<RunningAutomation> {
        let jobs = self.jobs.as_ref()?;
        let workspace = jobs.settings().workspace.clone();
        let scope = WorkScope { workspace: Some(workspace.clone()), includes_clients: true };
        let presence = jobs.presence(ServiceKind::Server, Some(workspace));
        let teams = Arc::clone(&self.teams) as Arc<dyn Teams>;
        let notice = Arc::clone(&self.notice);
        let (stop, notifier) = start(jobs, teams, scope, notice, Some(presence));
        Some(RunningAutomation { stop, runtime: None, notifier })
    }
}

/// Tells the operator of the machine what has ended.
struct NoticeListener {
    jobs: JobBook,
    notice: Notice,
}

impl WorkListener for NoticeListener {
    fn ended(&self, item: &WorkItem) {
        if item.kind == WORKFLOW_KIND {
            // The engine goes on with the run, and tells its end.
            self.jobs.wake_service();
            return;
        }
        if item.space != Space::Owner {
            return;
        }
        (self.notice)(&describe_end(item));
        let (journal, id) = (self.jobs.journal().clone(), item.id.clone());
        tokio::spawn(async move {
            if let Err(error) = journal.mark_work_delivered(&id).await {
                tracing::debug!(%error, "a result that was shown is shown again later");
            }
        });
    }
}

/// Describes the end of a piece of work in one line.
pub fn describe_end(item: &WorkItem) -> String {
    let result = make_visible(&to_one_line(&item.result, MAX_RESULT_CHARACTERS));
    let title = make_visible(&item.title);
    if item.kind == WORKFLOW_QUESTION_KIND {
        return result;
    }
    match (item.state, result.is_empty()) {
        (WorkState::Done, false) if result.starts_with("Reminder: ") => result,
        (state, true) => format!("{title} ({}) is {state}", item.id),
        (state, false) => format!("{title} ({}) is {state}: {result}", item.id),
    }
}

/// Returns what ended while the user was away, each told once.
pub(crate) async fn take_results(journal: &Journal) -> Result<Vec<String>, AppError> {
    let items = journal.list_undelivered_work(&Space::Owner, MAX_TOLD_COUNT).await?;
    let mut lines = Vec::new();
    for item in items {
        if journal.mark_work_delivered(&item.id).await? {
            lines.push(describe_end(&item));
        }
    }
    Ok(lines)
}
