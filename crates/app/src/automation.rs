//! Runs due work: jobs and background tasks, with the teams that a client has.

use std::sync::Arc;
use std::time::Duration;

use lango_automator::{
    AutomationService, JOB_KIND, JobBook, Notifier, ServiceKind, WORKFLOW_KIND,
    WORKFLOW_QUESTION_KIND,
};
use lango_protocol::Space;
use lango_runtime::{Runtime, Teams, WorkListener, WorkRunner};
use lango_store::{Journal, WorkItem, WorkScope, WorkState};
use lango_text::{make_visible, to_one_line};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::{AppError, Notice, ServedAssembly};

/// Limits the characters of a result in a notice.
const MAX_RESULT_CHARACTERS: usize = 400;

/// Limits how long a command waits for its notifications to be delivered.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(10);

/// Limits the results that a user is told at once.
const MAX_TOLD_COUNT: u32 = 5;

/// Sets how often results of work that other processes ran are looked for.
const RESULT_LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// Says who reads the notices of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    /// The user, at this moment. What was shown counts as told.
    User,
    /// A log, or no one. The user is told the same results later.
    Log,
}

/// Runs due work until it is stopped or dropped.
pub struct RunningAutomation {
    stop: CancellationToken,
    runtime: Option<Runtime>,
    notifier: Arc<Notifier>,
    teller: Option<ResultTeller>,
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
        self.tell_results().await;
        runtime.turns_under_way()
    }

    /// Starts nothing more, and delivers the notifications of what has ended. Work that runs or waits
    /// for a person goes on with the next process.
    pub async fn leave(self) {
        self.stop();
        drop(tokio::time::timeout(LEAVE_TIMEOUT, self.notifier.settle()).await);
        self.tell_results().await;
    }

    /// Tells the user what ended until now.
    async fn tell_results(&self) {
        if let Some(teller) = &self.teller {
            teller.tell().await;
        }
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
    audience: Audience,
) -> RunningAutomation {
    let scope =
        WorkScope { workspace: Some(jobs.settings().workspace.clone()), includes_clients: false };
    let teams = Arc::new(runtime.clone()) as Arc<dyn Teams>;
    let mut running = start(jobs, teams, scope, notice, audience);
    running.runtime = Some(runtime);
    running
}

fn start(
    jobs: &JobBook,
    teams: Arc<dyn Teams>,
    scope: WorkScope,
    notice: Notice,
    audience: Audience,
) -> RunningAutomation {
    let stop = CancellationToken::new();
    let teller = match audience {
        Audience::User => Some(ResultTeller::start(jobs.journal(), &notice, stop.clone())),
        Audience::Log => None,
    };
    let listener = Arc::new(NoticeListener { jobs: jobs.clone(), notice, teller: teller.clone() });
    let limit = jobs.settings().parallel_work;
    let runner =
        WorkRunner::new(jobs.journal().clone(), teams, scope, limit, Arc::clone(&listener) as _);
    let service = AutomationService::new(jobs.clone(), runner, listener);
    let notifier = service.notifier();
    tokio::spawn(service.run(stop.clone()));
    RunningAutomation { stop, runtime: None, notifier, teller }
}

impl ServedAssembly {
    /// Starts to run the due work of the owner and of the API clients, each with their own agents.
    pub(crate) fn start_automation(&self) -> Option<RunningAutomation> {
        let jobs = self.jobs.as_ref()?;
        let workspace = jobs.settings().workspace.clone();
        let scope = WorkScope { workspace: Some(workspace.clone()), includes_clients: true };
        let presence = jobs.presence(ServiceKind::Server, Some(workspace));
        let teams = Arc::clone(&self.teams) as Arc<dyn Teams>;
        let running = start(jobs, teams, scope, Arc::clone(&self.notice), Audience::Log);
        tokio::spawn(presence.keep_telling(running.stop.clone()));
        Some(running)
    }
}

/// Tells what has ended: the user where one reads the notices, else the log.
struct NoticeListener {
    jobs: JobBook,
    notice: Notice,
    teller: Option<ResultTeller>,
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
        if let Some(teller) = &self.teller {
            teller.ended.notify_one();
            return;
        }
        // The user has not seen it, and is told in a later client.
        (self.notice)(&describe_end(item));
        if item.kind == JOB_KIND {
            let (journal, item) = (self.jobs.journal().clone(), item.clone());
            tokio::spawn(async move {
                if let Err(error) = journal.mark_earlier_work_delivered(&item).await {
                    tracing::debug!(%error, "several runs of a job are told later");
                }
            });
        }
    }
}

/// Tells the user what has ended, in this process or another, each result once.
#[derive(Clone)]
struct ResultTeller {
    journal: Journal,
    notice: Notice,
    /// Wakes it when work of this process has ended.
    ended: Arc<Notify>,
}

impl ResultTeller {
    /// Starts to tell results until it is stopped.
    fn start(journal: &Journal, notice: &Notice, stop: CancellationToken) -> Self {
        let teller =
            Self { journal: journal.clone(), notice: Arc::clone(notice), ended: Arc::default() };
        let running = teller.clone();
        tokio::spawn(async move {
            while !stop.is_cancelled() {
                tokio::select! {
                    () = stop.cancelled() => {}
                    () = running.ended.notified() => running.tell().await,
                    () = tokio::time::sleep(RESULT_LOOK_INTERVAL) => running.tell().await,
                }
            }
        });
        teller
    }

    async fn tell(&self) {
        match take_results(&self.journal).await {
            Ok(lines) => lines.iter().for_each(|line| (self.notice)(line)),
            Err(error) => tracing::debug!(%error, "results are told later"),
        }
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

/// Returns what ended and was not told yet, each result once however many clients ask.
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
