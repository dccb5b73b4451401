//! Looks for runs that something has to be done about.

use std::collections::BTreeMap;
use std::sync::Arc;

use lango_protocol::{AgentName, Space, Timestamp};
use lango_store::{Batch, Journal, Statement, StoreError, WorkItem, WorkScope, WorkState};
use lango_workflow::Definition;
use parking_lot::Mutex;

use super::Workflows;
use super::advance::Advance;
use super::run::WorkflowRun;
use super::runs::{build_steps_cancellation, read_ids};
use super::step_work::build_run_end;
use crate::AutomatorError;

/// Limits the runs that are advanced in one round.
const MAX_ROUND_COUNT: u32 = 200;
/// Limits the definitions that are kept parsed.
const MAX_PARSED_COUNT: usize = 50;

/// Answers a question about a name in the team of an owner.
pub type Lookup<T> = Arc<dyn Fn(&Space, &str) -> T + Send + Sync>;

/// Looks up who is in the team of an owner. Clones share everything.
#[derive(Clone)]
pub struct TeamDirectory {
    /// Returns the agent that owns a tool; none if no agent has it.
    pub find_tool_owner: Lookup<Option<AgentName>>,
    /// Tells whether there is an agent of this name.
    pub has_agent: Lookup<bool>,
}

/// Advances the runs of a scope. Any number of engines may look at one database.
pub struct WorkflowEngine {
    workflows: Workflows,
    scope: WorkScope,
    directory: TeamDirectory,
    /// The definitions of runs that were advanced lately, which never change. Locked to look one up.
    parsed: Mutex<BTreeMap<String, Arc<Definition>>>,
}

impl WorkflowEngine {
    /// Creates an engine.
    pub fn new(workflows: Workflows, scope: WorkScope, directory: TeamDirectory) -> Self {
        Self { workflows, scope, directory, parsed: Mutex::default() }
    }

    /// Advances every run whose time has come, or of which work has ended. Returns what people are to
    /// be told: ends of runs, and questions.
    pub async fn advance_due(&self, now: Timestamp) -> Result<Vec<WorkItem>, AutomatorError> {
        let statement = Statement::new(
            "SELECT id FROM workflow_runs WHERE state IN ('running', 'blocked') \
             AND ($2 = '' OR workspace = $2) AND (CAST($3 AS BIGINT) = 1 OR client = '') \
             AND (next_look <= $1 OR id IN (SELECT steps.run FROM workflow_steps AS steps \
             JOIN work ON work.id = steps.work WHERE steps.state = 'started' \
             AND work.state NOT IN ('waiting', 'started'))) ORDER BY created_at, id LIMIT $4",
        )
        .bind(now.as_microseconds())
        .bind(self.scope.workspace.as_deref().unwrap_or_default())
        .bind(self.scope.includes_clients)
        .bind(MAX_ROUND_COUNT);
        let mut told = Vec::new();
        for id in read_ids(&self.workflows.jobs.database.query(statement).await?)? {
            match self.advance(&id, now).await {
                Ok(new) => told.extend(new),
                Err(AutomatorError::Store(error)) => return Err(error.into()),
                // It would not go on next time either, and must not keep others from going on.
                Err(error) => told.extend(self.fail(&id, &error, now).await?),
            }
        }
        Ok(told)
    }

    /// Ends a run that cannot be advanced. Returns what people are to be told.
    async fn fail(
        &self,
        id: &str,
        error: &AutomatorError,
        now: Timestamp,
    ) -> Result<Option<WorkItem>, AutomatorError> {
        tracing::error!(run = id, %error, "a run of a workflow cannot go on");
        let Some(run) = self.workflows.load_damaged_run(id).await? else { return Ok(None) };
        let reason = format!("it cannot go on: {error}");
        let told = build_run_end(&run, WorkState::Failed, reason.clone(), now)?;
        let update = Statement::new(
            "UPDATE workflow_runs SET state = 'failed', reason = $2, ended_at = $3, next_look = NULL, \
             revision = revision + 1 WHERE id = $1 AND revision = $4 AND state IN ('running', 'blocked')",
        )
        .bind(id)
        .bind(reason)
        .bind(now.as_microseconds())
        .bind(run.revision)
        .expect_rows(1);
        let [waiting, started] = Journal::build_cancellation_of_parent(id);
        let batch = Batch::from(update)
            .with(build_steps_cancellation(id, now))
            .with(waiting)
            .with(started)
            .with(Journal::build_work_entry(&told));
        match self.workflows.jobs.database.write(batch).await {
            Ok(_) => Ok(Some(told)),
            // Another process was faster, and tells it.
            Err(StoreError::Conflict { .. }) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Advances one run as far as it can go now.
    async fn advance(&self, id: &str, now: Timestamp) -> Result<Vec<WorkItem>, AutomatorError> {
        let Some(run) = self.workflows.load_run(id).await? else { return Ok(Vec::new()) };
        if run.state.has_ended() {
            return Ok(Vec::new());
        }
        let definition = self.parse(&run)?;
        let rows = self.workflows.load_rows(id).await?;
        let mut advance = Advance::new(&self.workflows, &run, &definition, rows, now);
        advance.collect_ends().await?;
        advance.settle(&self.directory).await?;
        let (batch, told) = advance.finish().await?;
        match self.workflows.jobs.database.write(batch).await {
            Ok(_) => Ok(told),
            // Another process was faster; the next look sees what it did.
            Err(StoreError::Conflict { .. }) => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        }
    }

    fn parse(&self, run: &WorkflowRun) -> Result<Arc<Definition>, AutomatorError> {
        if let Some(definition) = self.parsed.lock().get(&run.id) {
            return Ok(Arc::clone(definition));
        }
        let definition = Arc::new(Definition::parse(&run.definition)?);
        let mut parsed = self.parsed.lock();
        if parsed.len() >= MAX_PARSED_COUNT {
            parsed.clear();
        }
        parsed.insert(run.id.clone(), Arc::clone(&definition));
        Ok(definition)
    }
}
