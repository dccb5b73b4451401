//! Starts runs of workflows, finds them, and takes the decisions of people about their steps.

use lango_protocol::{SessionId, Space, Timestamp};
use lango_store::{Batch, Journal, Row, Statement, StoreError};
use lango_workflow::{Definition, FailureRule, check_inputs};
use serde_json::{Map, Value};
use uuid::Uuid;

use super::run::{COLUMNS, RunState, WorkflowRun};
use super::step::{self, StepRow, StepState, WHOLE};
use super::view::WorkflowRunView;
use crate::{AutomatorError, JobBook};

/// Limits how many pieces of work may lead to a run.
const MAX_DEPTH: u32 = 3;

/// Limits how often a decision of a person is written anew because the run changed in between.
const MAX_WRITE_COUNT: u32 = 20;

/// The reason of steps that were left out because another one failed.
pub(crate) const STOPPED: &str = "the run stopped before it";

/// Describes a run that is to be started.
#[derive(Debug, Clone)]
pub struct NewRun {
    /// The definition.
    pub definition: String,
    /// The inputs.
    pub inputs: Map<String, Value>,
    /// Whose run it is.
    pub space: Space,
    /// The conversation that asks for it.
    pub session: Option<SessionId>,
}

/// The workflows of a database and their runs. Clones share everything.
#[derive(Clone)]
pub struct Workflows {
    pub(crate) jobs: JobBook,
}

impl Workflows {
    /// Returns the workflows beside the jobs of a database.
    pub fn new(jobs: JobBook) -> Self {
        Self { jobs }
    }

    /// Starts a run. Its first steps are queued by the engine.
    pub async fn start(&self, new: NewRun) -> Result<WorkflowRun, AutomatorError> {
        let definition = Definition::parse(&new.definition)?;
        let inputs = check_inputs(&definition, &new.inputs)?;
        let depth = self.check_limits(&new).await?;
        let run = WorkflowRun {
            id: format!("run-{}", &Uuid::new_v4().simple().to_string()[..6]),
            name: definition.name.clone(),
            space: new.space,
            workspace: self.jobs.settings.workspace.clone(),
            definition: new.definition,
            inputs,
            state: RunState::Running,
            reason: String::new(),
            outputs: Map::new(),
            depth,
            session: new.session,
            created_at: Timestamp::now(),
            ended_at: None,
            revision: 0,
        };
        let mut batch = Batch::new();
        for statement in build_start(&run, &definition, "") {
            batch.push(statement);
        }
        self.jobs.database.write(batch).await?;
        self.jobs.wake.notify_one();
        Ok(run)
    }

    async fn check_limits(&self, new: &NewRun) -> Result<u32, AutomatorError> {
        let limit = self.jobs.settings.max_task_count;
        let statement = Statement::new(
            "SELECT COUNT(*) FROM workflow_runs WHERE client = $1 AND state IN ('running', 'blocked')",
        )
        .bind(new.space.as_stored());
        let rows = self.jobs.database.query(statement).await?;
        let open = rows.first().map_or(Ok(0), |row| row.integer(0))?;
        if open >= i64::from(limit) {
            let reason = format!(
                "{limit} runs have not ended. Wait, or cancel one: lango workflow cancel RUN"
            );
            return Err(AutomatorError::Refused(reason));
        }
        let Some(session) = &new.session else { return Ok(0) };
        let work = self.jobs.journal.find_work_of_session(session).await?;
        let depth = work.map_or(0, |work| work.depth.saturating_add(1));
        if depth > MAX_DEPTH {
            let reason = "work that other work started may not start more".to_owned();
            return Err(AutomatorError::Refused(reason));
        }
        Ok(depth)
    }

    /// Returns the newest runs of an owner, the newest first.
    pub async fn list(
        &self,
        space: &Space,
        limit: u32,
    ) -> Result<Vec<WorkflowRun>, AutomatorError> {
        let statement = Statement::new(format!(
            "SELECT {COLUMNS} FROM workflow_runs WHERE client = $1 ORDER BY created_at DESC, id LIMIT $2"
        ))
        .bind(space.as_stored())
        .bind(limit);
        let rows = self.jobs.database.query(statement).await?;
        rows.iter().map(WorkflowRun::read).collect()
    }

    /// Shows the newest runs of an owner that have ended, of one workflow or of all, the newest first and
    /// without their steps.
    pub async fn list_ended(
        &self,
        name: Option<&str>,
        space: &Space,
        limit: u32,
    ) -> Result<Vec<WorkflowRunView>, AutomatorError> {
        let statement = Statement::new(format!(
            "SELECT {COLUMNS} FROM workflow_runs WHERE client = $1 AND ($2 = '' OR name = $2) \
             AND state NOT IN ('running', 'blocked') ORDER BY created_at DESC, id LIMIT $3"
        ))
        .bind(space.as_stored())
        .bind(name.unwrap_or_default())
        .bind(limit);
        let rows = self.jobs.database.query(statement).await?;
        rows.iter().map(|row| WorkflowRunView::build(&WorkflowRun::read(row)?, &[])).collect()
    }

    /// Returns a run by its id, or the newest one of a workflow by its name.
    pub async fn find(&self, words: &str, space: &Space) -> Result<WorkflowRun, AutomatorError> {
        let given = words.trim().trim_matches(['`', '"', '\'']);
        let statement = Statement::new(format!(
            "SELECT {COLUMNS} FROM workflow_runs WHERE client = $1 AND (id = $2 OR name = $2) \
             ORDER BY created_at DESC LIMIT 1"
        ))
        .bind(space.as_stored())
        .bind(given);
        let rows = self.jobs.database.query(statement).await?;
        let row = rows.first().ok_or_else(|| AutomatorError::UnknownRun(given.to_owned()))?;
        WorkflowRun::read(row)
    }

    /// Shows a run with its steps.
    pub async fn show(&self, run: &WorkflowRun) -> Result<WorkflowRunView, AutomatorError> {
        let statement = Statement::new(format!(
            "SELECT {}, input, output FROM workflow_steps WHERE run = $1 ORDER BY position, item",
            step::COLUMNS
        ))
        .bind(run.id.as_str());
        let rows = self.jobs.database.query(statement).await?;
        WorkflowRunView::build(run, &rows)
    }

    pub(crate) async fn load_run(&self, id: &str) -> Result<Option<WorkflowRun>, AutomatorError> {
        let statement =
            Statement::new(format!("SELECT {COLUMNS} FROM workflow_runs WHERE id = $1")).bind(id);
        let rows = self.jobs.database.query(statement).await?;
        rows.first().map(WorkflowRun::read).transpose()
    }

    /// Returns as much of a run as is needed to end it, even if the rest cannot be read.
    pub(crate) async fn load_damaged_run(
        &self,
        id: &str,
    ) -> Result<Option<WorkflowRun>, AutomatorError> {
        let statement = Statement::new(
            "SELECT name, client, workspace, session, depth, created_at, ended_at, revision \
             FROM workflow_runs WHERE id = $1",
        )
        .bind(id);
        let rows = self.jobs.database.query(statement).await?;
        rows.first().map(|row| WorkflowRun::read_damaged(id, row)).transpose()
    }

    pub(crate) async fn load_rows(&self, run: &str) -> Result<Vec<StepRow>, AutomatorError> {
        let statement = Statement::new(format!(
            "SELECT {} FROM workflow_steps WHERE run = $1 ORDER BY position, item",
            step::COLUMNS
        ))
        .bind(run);
        let rows = self.jobs.database.query(statement).await?;
        rows.iter().map(StepRow::read).collect()
    }

    /// Lets a step go on that waits for a person. Of a step whose outcome is not known it says that it
    /// was done, with this output.
    pub async fn approve(
        &self,
        run: &WorkflowRun,
        step: &str,
        by: &str,
        output: Value,
    ) -> Result<(), AutomatorError> {
        self.decide(run, step, |row, now| match row.state {
            StepState::Waiting => {
                row.set(StepState::Pending, "");
                by.clone_into(&mut row.approved_by);
                Ok(())
            }
            StepState::Unknown => {
                row.end(StepState::Done, format!("{by} says that it was done"), now);
                row.new_output = Some(output.clone());
                Ok(())
            }
            state => Err(format!("{} waits for no one: it is {}", row.name(), state.as_str())),
        })
        .await
    }

    /// Lets a step fail that waits for a person, or whose outcome is not known.
    pub async fn reject(
        &self,
        run: &WorkflowRun,
        step: &str,
        by: &str,
    ) -> Result<(), AutomatorError> {
        self.decide(run, step, |row, now| match row.state {
            StepState::Waiting | StepState::Unknown => {
                row.end(StepState::Failed, format!("rejected by {by}"), now);
                Ok(())
            }
            state => Err(format!("{} waits for no one: it is {}", row.name(), state.as_str())),
        })
        .await
    }

    /// Runs a step again that failed or whose outcome is not known, and then what comes after it.
    pub async fn retry(&self, run: &WorkflowRun, step: &str) -> Result<(), AutomatorError> {
        let definition = Definition::parse(&run.definition)?;
        self.change_rows(run, |rows, _| prepare_retry(&definition, run, rows, step)).await
    }

    /// Cancels a run. What runs is stopped. Returns false if it had ended.
    pub async fn cancel(&self, run: &WorkflowRun) -> Result<bool, AutomatorError> {
        let now = Timestamp::now();
        let cancel = Statement::new(
            "UPDATE workflow_runs SET state = 'cancelled', reason = '', ended_at = $2, next_look = NULL, \
             revision = revision + 1 WHERE id = $1 AND state IN ('running', 'blocked')",
        )
        .bind(run.id.as_str())
        .bind(now.as_microseconds())
        .expect_rows(1);
        let steps = build_steps_cancellation(&run.id, now);
        let [waiting, started] = Journal::build_cancellation_of_parent(&run.id);
        let batch = Batch::from(cancel).with(steps).with(waiting).with(started);
        match self.jobs.database.write(batch).await {
            Ok(_) => {
                self.jobs.wake.notify_one();
                Ok(true)
            }
            Err(StoreError::Conflict { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a run that has ended, with its steps. Their sessions stay in the journal.
    pub async fn remove(&self, run: &WorkflowRun) -> Result<(), AutomatorError> {
        let remove = Statement::new(
            "DELETE FROM workflow_runs WHERE id = $1 AND state NOT IN ('running', 'blocked')",
        )
        .bind(run.id.as_str())
        .expect_rows(1);
        let steps =
            Statement::new("DELETE FROM workflow_steps WHERE run = $1").bind(run.id.as_str());
        match self.jobs.database.write(Batch::from(remove).with(steps)).await {
            Ok(_) => Ok(()),
            Err(StoreError::Conflict { .. }) => {
                let id = &run.id;
                let reason =
                    format!("{id} has not ended. Cancel it first: lango workflow cancel {id}");
                Err(AutomatorError::Refused(reason))
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn decide(
        &self,
        run: &WorkflowRun,
        step: &str,
        change: impl Fn(&mut StepRow, Timestamp) -> Result<(), String>,
    ) -> Result<(), AutomatorError> {
        self.change_rows(run, |rows, now| {
            let row = rows.iter_mut().find(|row| row.name() == step);
            let row = row.ok_or_else(|| unknown_step(run, step))?;
            change(row, now).map_err(AutomatorError::Refused)
        })
        .await
    }

    /// Writes what a person decided about the steps of a run as they are now, and lets the engine look at
    /// it.
    async fn change_rows(
        &self,
        run: &WorkflowRun,
        change: impl Fn(&mut [StepRow], Timestamp) -> Result<(), AutomatorError>,
    ) -> Result<(), AutomatorError> {
        for _ in 0..MAX_WRITE_COUNT {
            let Some(run) = self.load_run(&run.id).await? else {
                return Err(AutomatorError::UnknownRun(run.id.clone()));
            };
            let mut rows = self.load_rows(&run.id).await?;
            change(&mut rows, Timestamp::now())?;
            match self.jobs.database.write(build_decision(&run, &rows)).await {
                Ok(_) => {
                    self.jobs.wake.notify_one();
                    return Ok(());
                }
                // An engine has advanced it in between.
                Err(StoreError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let id = &run.id;
        let reason = format!("{id} cannot be changed now. Look at it: lango workflow status {id}");
        Err(AutomatorError::Refused(reason))
    }
}

fn build_decision(run: &WorkflowRun, rows: &[StepRow]) -> Batch {
    let is_blocked = rows.iter().any(|row| row.state == StepState::Unknown);
    let state = if is_blocked { RunState::Blocked } else { RunState::Running };
    let update = Statement::new(
        "UPDATE workflow_runs SET state = $3, reason = '', next_look = 0, revision = revision + 1 \
         WHERE id = $1 AND revision = $2 AND state <> 'cancelled'",
    )
    .bind(run.id.as_str())
    .bind(run.revision)
    .bind(state.as_str())
    .expect_rows(1);
    let mut batch = Batch::from(update);
    for row in rows.iter().filter(|row| row.is_changed) {
        batch.push(row.build_write(&run.id));
    }
    batch
}

/// Makes a step ready again, and the steps that were left out because of it.
fn prepare_retry(
    definition: &Definition,
    run: &WorkflowRun,
    rows: &mut [StepRow],
    step: &str,
) -> Result<(), AutomatorError> {
    let is_retried = |row: &StepRow| matches!(row.state, StepState::Failed | StepState::Unknown);
    let found = rows.iter().find(|row| row.name() == step);
    let found = found.ok_or_else(|| unknown_step(run, step))?;
    if !is_retried(found) {
        let state = found.state.as_str();
        let reason = format!("{step} neither failed nor is its outcome unknown: it is {state}");
        return Err(AutomatorError::Refused(reason));
    }
    let (position, item) = found.key();
    let has_items = rows.iter().any(|row| row.position == position && row.item != WHOLE);
    let handler = match definition.steps.get(position).map(|step| step.on_failure) {
        Some(FailureRule::Run(handler)) => Some(handler),
        _ => None,
    };
    for row in rows {
        if row.position == position {
            let is_meant = item == WHOLE || item == row.item;
            if row.item == WHOLE && has_items {
                row.set(StepState::Started, "");
            } else if (is_meant && is_retried(row))
                || (row.item != WHOLE && row.state == StepState::Skipped)
            {
                row.set(StepState::Ready, "");
                (row.failures, row.due_at) = (0, None);
            }
        } else if row.state == StepState::Skipped && row.reason == STOPPED
            || row.item == WHOLE && handler == Some(row.position) && row.state.is_settled()
        {
            row.set(StepState::Pending, "");
        }
    }
    Ok(())
}

fn unknown_step(run: &WorkflowRun, step: &str) -> AutomatorError {
    let id = &run.id;
    AutomatorError::Refused(format!("{id} has no step {step:?}. See: lango workflow status {id}"))
}

/// Returns the statements that start a run. Its first steps are queued by the engine.
pub(crate) fn build_start(run: &WorkflowRun, definition: &Definition, job: &str) -> Vec<Statement> {
    let steps = definition.steps.iter().enumerate().map(|(position, step)| {
        StepRow::new(position, WHOLE, &step.id, StepState::Pending).build_write(&run.id)
    });
    std::iter::once(build_insert(run, job)).chain(steps).collect()
}

fn build_insert(run: &WorkflowRun, job: &str) -> Statement {
    Statement::new(
        "INSERT INTO workflow_runs (id, name, client, workspace, definition, inputs, state, reason, \
         outputs, depth, session, created_at, ended_at, next_look, revision, job) VALUES ($1, $2, $3, $4, \
         $5, $6, $7, '', '{}', $8, $9, $10, NULL, 0, 0, $11)",
    )
    .bind(run.id.as_str())
    .bind(run.name.as_str())
    .bind(run.space.as_stored())
    .bind(run.workspace.as_str())
    .bind(run.definition.as_str())
    .bind(Value::Object(run.inputs.clone()).to_string())
    .bind(run.state.as_str())
    .bind(run.depth)
    .bind(run.session.as_ref().map_or("", SessionId::as_str))
    .bind(run.created_at.as_microseconds())
    .bind(job)
}

/// Returns the statement that ends the steps of a run that is over, where they have not ended.
pub(crate) fn build_steps_cancellation(run: &str, now: Timestamp) -> Statement {
    Statement::new(
        "UPDATE workflow_steps SET state = 'cancelled', ended_at = $2 WHERE run = $1 \
         AND state NOT IN ('done', 'failed', 'skipped', 'cancelled')",
    )
    .bind(run)
    .bind(now.as_microseconds())
}

/// Reads the ids in the first column.
pub(crate) fn read_ids(rows: &[Row]) -> Result<Vec<String>, AutomatorError> {
    rows.iter().map(|row| Ok(row.text(0)?.to_owned())).collect()
}
