//! Opens the automator from its settings and resources, and returns the parts that it contributes.

use std::sync::Arc;

use lango_runtime::{AgentContext, AgentParts, SpendGuard};
use lango_store::{Database, Journal, StoreError};
use lango_tool::RegisteredTool;

use crate::result_context::ResultContext;
use crate::tools::{
    AddJob, CancelRun, CancelTask, ListJobs, ListTasks, ListWorkflows, PauseJob, RemoveJob,
    ResumeJob, RunWorkflow, SaveWorkflow, ShowHistory, ShowResult, ShowRun, ShowTask, SubmitTask,
};
use crate::{AutomatorSettings, BackgroundTasks, JobBook, Workflows};

/// What the automator needs of the program.
pub struct AutomatorResources {
    /// The database of the jobs.
    pub database: Database,
    /// The journal in it.
    pub journal: Journal,
}

/// The automator: jobs, background tasks and workflows.
pub struct AutomatorAgent {
    jobs: JobBook,
}

impl AutomatorAgent {
    /// Opens the jobs of a database.
    pub async fn open(
        settings: AutomatorSettings,
        resources: AutomatorResources,
    ) -> Result<Self, StoreError> {
        let AutomatorResources { database, journal } = resources;
        let jobs = JobBook::open(settings, database, journal).await?;
        jobs.load_known_workflows().await?;
        Ok(Self { jobs })
    }

    /// Returns the jobs.
    pub fn jobs(&self) -> &JobBook {
        &self.jobs
    }

    /// Returns the automator's contributions to turns.
    pub fn parts(&self) -> AgentParts {
        let jobs = || self.jobs.clone();
        let tasks = || BackgroundTasks::new(self.jobs.clone());
        let workflows = || Workflows::new(self.jobs.clone());
        let tools = vec![
            RegisteredTool::new(AddJob { jobs: jobs() }),
            RegisteredTool::new(ListJobs { jobs: jobs() }),
            RegisteredTool::new(ShowHistory { jobs: jobs() }),
            RegisteredTool::new(PauseJob { jobs: jobs() }),
            RegisteredTool::new(ResumeJob { jobs: jobs() }),
            RegisteredTool::new(RemoveJob { jobs: jobs() }),
            RegisteredTool::new(SubmitTask { tasks: tasks(), jobs: jobs() }),
            RegisteredTool::new(ShowTask { tasks: tasks() }),
            RegisteredTool::new(ListTasks { tasks: tasks() }),
            RegisteredTool::new(ShowResult { tasks: tasks() }),
            RegisteredTool::new(CancelTask { tasks: tasks() }),
            RegisteredTool::new(RunWorkflow { jobs: jobs() }),
            RegisteredTool::new(SaveWorkflow { workflows: workflows() }),
            RegisteredTool::new(ShowRun { workflows: workflows() }),
            RegisteredTool::new(ListWorkflows { workflows: workflows() }),
            RegisteredTool::new(CancelRun { workflows: workflows() }),
        ];
        let source = Arc::new(ResultContext { jobs: jobs() });
        let context = vec![AgentContext { source, tool_prefix: "bg_" }];
        let spend_guard = Some(Arc::new(self.jobs.clone()) as Arc<dyn SpendGuard>);
        AgentParts { tools, context, spend_guard, ..AgentParts::default() }
    }
}
