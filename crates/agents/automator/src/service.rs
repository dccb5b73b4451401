//! Runs everything that is due, as long as a process is up.

use std::sync::Arc;
use std::time::{Duration, Instant};

use lango_protocol::Timestamp;
use lango_runtime::{WorkListener, WorkRunner};
use tokio_util::sync::CancellationToken;

use crate::{
    AutomatorError, JobBook, Notifier, Scheduler, TeamDirectory, WorkflowEngine, Workflows,
};

/// Sets how often the database is looked at for what other processes wrote. Each look is a few reads of
/// indexes.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// Sets how often what is old is removed.
const CLEANUP_INTERVAL: Duration = Duration::from_hours(24);

/// The longest wait after the database failed.
const MAX_RETRY_WAIT: Duration = Duration::from_secs(30);

/// Runs due work.
pub struct AutomationService {
    jobs: JobBook,
    scheduler: Scheduler,
    engine: WorkflowEngine,
    runner: WorkRunner,
    notifier: Arc<Notifier>,
    listener: Arc<dyn WorkListener>,
}

impl AutomationService {
    /// Creates a service that runs the work of the runner's scope.
    pub fn new(jobs: JobBook, runner: WorkRunner, listener: Arc<dyn WorkListener>) -> Self {
        let scheduler = Scheduler::new(jobs.clone(), runner.scope().clone());
        let (tools, agents) = (runner.clone(), runner.clone());
        let directory = TeamDirectory {
            find_tool_owner: Arc::new(move |space, tool| tools.find_tool_owner(space, tool)),
            has_agent: Arc::new(move |space, agent| agents.has_agent(space, agent)),
        };
        let workflows = Workflows::new(jobs.clone());
        let engine = WorkflowEngine::new(workflows, runner.scope().clone(), directory);
        let notifier = Arc::new(Notifier::new(jobs.clone(), runner.scope().clone()));
        Self { jobs, scheduler, engine, runner, notifier, listener }
    }

    /// Returns its notifier.
    pub fn notifier(&self) -> Arc<Notifier> {
        Arc::clone(&self.notifier)
    }

    /// Runs what is due, until it is stopped. Turns that run are not stopped.
    pub async fn run(self, stop: CancellationToken) {
        let mut wait = LOOK_INTERVAL;
        let mut cleaned: Option<Instant> = None;
        while !stop.is_cancelled() {
            if cleaned.is_none_or(|cleaned| cleaned.elapsed() >= CLEANUP_INTERVAL) {
                cleaned = Some(Instant::now());
                if let Err(error) = self.remove_old(Timestamp::now()).await {
                    tracing::debug!(%error, "what is old was not removed");
                }
            }
            match self.run_once(Timestamp::now()).await {
                Ok(()) => wait = LOOK_INTERVAL,
                Err(error) => {
                    // The database may come back.
                    if wait == LOOK_INTERVAL {
                        tracing::warn!(%error, "cannot look for due work");
                    }
                    wait = (wait * 2).min(MAX_RETRY_WAIT);
                }
            }
            tokio::select! {
                () = stop.cancelled() => {}
                () = self.jobs.wake.notified() => {}
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    /// Removes what no one needs any more.
    pub async fn remove_old(&self, now: Timestamp) -> Result<(), AutomatorError> {
        self.jobs.remove_old(now).await?;
        self.notifier.remove_old(now).await
    }

    /// Runs what is due now, once.
    pub async fn run_once(&self, now: Timestamp) -> Result<(), AutomatorError> {
        for reminder in self.scheduler.fire_due(now).await? {
            self.listener.ended(&reminder);
        }
        for told in self.engine.advance_due(now).await? {
            self.listener.ended(&told);
        }
        self.runner.run_due(now).await?;
        self.runner.stop_cancelled().await?;
        self.notifier.decide().await?;
        self.notifier.deliver_due();
        Ok(())
    }
}
