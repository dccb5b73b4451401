//! Runs the due work of all directories, each with a team in its own directory.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use lango_automator::{JobBook, ServiceKind};
use tokio_util::sync::CancellationToken;

use crate::provider::ModelOptions;
use crate::serving::OwnerApprover;
use crate::{
    App, AppError, Audience, Notice, OpenOptions, RunningAutomation, RunningTeam, TeamOptions,
    find_workspace,
};

/// Sets how often directories with new work are looked for.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

/// Sets after which time a directory that could not be used is tried again.
const RETRY_INTERVAL: Duration = Duration::from_mins(1);

/// Limits how long work may take to end when the worker stops.
const GRACE_PERIOD: Duration = Duration::from_secs(10);

/// Holds a client's choices about a worker; the configuration decides the others.
#[derive(Debug, Clone, Default)]
pub struct WorkerOptions {
    /// The team. Without a workspace, the work of all directories is run.
    pub team: TeamOptions,
    /// The model of all agents.
    pub model: Option<String>,
    /// The file that records what is sent to models.
    pub record: Option<PathBuf>,
}

/// Runs the user's due work.
pub struct Worker<'a> {
    app: &'a App,
    options: WorkerOptions,
    /// The one directory whose work is run; all if absent.
    only: Option<PathBuf>,
    notice: Notice,
    open: BTreeMap<PathBuf, WorkerTeam>,
}

enum WorkerTeam {
    Running {
        team: Box<RunningTeam>,
        automation: Option<RunningAutomation>,
    },
    /// The directory could not be used.
    Failed(Instant),
}

impl<'a> Worker<'a> {
    /// Creates a worker. Nothing is opened yet.
    pub fn new(app: &'a App, options: WorkerOptions, notice: Notice) -> Result<Self, AppError> {
        let only = match &options.team.workspace {
            Some(given) => Some(find_workspace(Some(given.as_path()))?),
            None => None,
        };
        Ok(Self { app, options, only, notice, open: BTreeMap::new() })
    }

    /// Returns the directories whose work it runs, for users.
    pub fn describe_scope(&self) -> String {
        self.only.as_ref().map_or("all directories".to_owned(), |only| only.display().to_string())
    }

    /// Runs due work until `stop` is done; what runs then has some seconds to end.
    pub async fn run(
        mut self,
        jobs: &JobBook,
        stop: impl Future<Output = ()>,
    ) -> Result<(), AppError> {
        let stopping = CancellationToken::new();
        let told = self.only.as_ref().map(|workspace| workspace.display().to_string());
        let presence = jobs.presence(ServiceKind::Worker, told);
        let presence = tokio::spawn(presence.keep_telling(stopping.clone()));
        let mut stop = std::pin::pin!(stop);
        loop {
            self.open_due(jobs).await?;
            tokio::select! {
                () = tokio::time::sleep(LOOK_INTERVAL) => {}
                () = &mut stop => break,
            }
        }
        stopping.cancel();
        self.end().await;
        // The database is closed right after this.
        drop(presence.await);
        Ok(())
    }

    /// Opens the teams of directories that have work and no team yet.
    async fn open_due(&mut self, jobs: &JobBook) -> Result<(), AppError> {
        let workspaces = match &self.only {
            Some(only) => vec![only.display().to_string()],
            // The database may come back; the services of open teams log its failure.
            None => jobs.list_workspaces().await.unwrap_or_default(),
        };
        for workspace in workspaces.into_iter().map(PathBuf::from) {
            let is_open = self.open.get(&workspace).is_some_and(|team| match team {
                WorkerTeam::Running { .. } => true,
                WorkerTeam::Failed(at) => at.elapsed() < RETRY_INTERVAL,
            });
            if is_open {
                continue;
            }
            let opened = match self.open_team(workspace.clone()).await {
                Ok(opened) => opened,
                // The one directory that was named must be usable.
                Err(error) if self.only.is_some() => return Err(error),
                Err(error) => {
                    (self.notice)(&format!("no work runs in {}: {error}", workspace.display()));
                    WorkerTeam::Failed(Instant::now())
                }
            };
            self.open.insert(workspace, opened);
        }
        Ok(())
    }

    async fn open_team(&self, workspace: PathBuf) -> Result<WorkerTeam, AppError> {
        let WorkerOptions { team, model, record } = self.options.clone();
        let team = TeamOptions { workspace: Some(workspace), ..team };
        let models = ModelOptions::Choose { wanted: model, record, consent: None };
        let assembly = self.app.open(OpenOptions::new(team, models)).await?;
        let team = assembly.runtime(Arc::new(OwnerApprover::new(Arc::clone(&self.notice))));
        let automation = team.start_automation(Arc::clone(&self.notice), Audience::Log);
        Ok(WorkerTeam::Running { team: Box::new(team), automation })
    }

    /// Lets the work that runs end, and stops everything.
    async fn end(self) {
        let end = Instant::now() + GRACE_PERIOD;
        for team in self.open.into_values() {
            let WorkerTeam::Running { team, automation } = team else { continue };
            if let Some(automation) = automation {
                let left = automation.finish(end.saturating_duration_since(Instant::now())).await;
                if left > 0 {
                    let line = format!("{left} turns did not end in time; the next worker goes on");
                    (self.notice)(&line);
                }
            }
            team.stop_servers().await;
        }
    }
}
