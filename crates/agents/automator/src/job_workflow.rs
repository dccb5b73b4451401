//! Jobs that run a workflow: finds the one that a task names, and starts it at an occurrence.

use lango_protocol::Timestamp;
use lango_store::{Statement, WorkItem, WorkState};
use lango_workflow::{Definition, check_inputs};
use serde_json::Map;

use crate::job::{Job, JobAction, JobWorkflow};
use crate::workflow::{RunState, WorkflowRun, build_start};
use crate::{AutomatorError, JobBook, NewJob, Workflows};

/// The words before the name of a workflow, in a task that runs one.
const BEGINNINGS: &[&str] =
    &["run the workflow ", "run workflow ", "start the workflow ", "start workflow "];
/// The words around it, where the name stands in the middle.
const AROUND: &[(&str, &str)] =
    &[("run the ", " workflow"), ("start the ", " workflow"), ("run ", " workflow")];

/// Returns the name of the workflow that a task is to run, and nothing else; none if it is another task.
pub fn find_workflow_name(task: &str) -> Option<&str> {
    let task = task.trim().trim_end_matches(['.', '!']);
    let lower = task.to_ascii_lowercase();
    let before = BEGINNINGS.iter().find(|words| lower.starts_with(**words));
    let name = match before {
        Some(words) => &task[words.len()..],
        None => AROUND.iter().find_map(|(before, after)| {
            let has_both = lower.starts_with(before) && lower.ends_with(after);
            let end = task.len().checked_sub(after.len()).filter(|end| *end > before.len())?;
            has_both.then(|| &task[before.len()..end])
        })?,
    };
    let name = name.trim().trim_matches(['`', '"', '\'']);
    let is_name = !name.is_empty() && name != "the" && !name.contains(char::is_whitespace);
    is_name.then_some(name)
}

impl JobBook {
    /// Returns the saved workflow that a new job is to run; none if its task names none.
    pub(crate) async fn find_workflow_of(
        &self,
        new: &NewJob,
    ) -> Result<Option<JobWorkflow>, AutomatorError> {
        // A reminder of a workflow only reminds.
        let name = find_workflow_name(&new.task).filter(|_| new.action != JobAction::Remind);
        let Some(name) = name else {
            if new.inputs.is_empty() {
                return Ok(None);
            }
            let reason = "inputs belong to a job whose task is: run the workflow NAME".to_owned();
            return Err(AutomatorError::Refused(reason));
        };
        let text = match &new.definition {
            Some(text) => text.clone(),
            None => Workflows::new(self.clone()).find_saved(name, &new.space).await?.text,
        };
        let definition = Definition::parse(&text)?;
        let inputs = check_inputs(&definition, &new.inputs)?;
        Ok(Some(JobWorkflow { definition: text, inputs }))
    }

    /// Tells whether a run of a workflow that a job started has not ended.
    pub(crate) async fn find_open_run(&self, job: &Job) -> Result<Option<String>, AutomatorError> {
        let statement = Statement::new(
            "SELECT id FROM workflow_runs WHERE job = $1 AND state IN ('running', 'blocked') LIMIT 1",
        )
        .bind(job.id.as_str());
        let rows = self.database.query(statement).await?;
        Ok(rows.first().map(|row| row.text(0).map(str::to_owned)).transpose()?)
    }
}

/// Returns the statements that start the workflow of a job, for the commit that writes the work of the
/// occurrence, which is done with it. The same occurrence has the same run.
pub(crate) fn begin_workflow(
    job: &Job,
    item: &mut WorkItem,
    now: Timestamp,
) -> Result<Vec<Statement>, AutomatorError> {
    let Some(workflow) = &job.workflow else {
        return Err(AutomatorError::unreadable("a job without its workflow"));
    };
    let definition = Definition::parse(&workflow.definition)?;
    let id = item.id.replace('@', "-");
    let run = WorkflowRun {
        id: format!("run-{id}"),
        name: definition.name.clone(),
        space: job.space.clone(),
        workspace: job.workspace.clone(),
        definition: workflow.definition.clone(),
        inputs: workflow.inputs.clone(),
        state: RunState::Running,
        reason: String::new(),
        outputs: Map::new(),
        depth: job.depth,
        session: job.session.clone(),
        created_at: now,
        ended_at: None,
        revision: 0,
    };
    (item.state, item.result) = (WorkState::Done, format!("started {}", run.id));
    (item.started_at, item.ended_at) = (Some(now), Some(now));
    Ok(build_start(&run, &definition, &job.id))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_that_only_runs_a_workflow_names_it() {
        for task in [
            "run the workflow daily-report",
            "Run workflow `daily-report`.",
            "run the daily-report workflow",
            "start the workflow daily-report",
        ] {
            assert_eq!(find_workflow_name(task), Some("daily-report"), "{task}");
        }
        for task in [
            "run the backup",
            "run the workflow daily report twice",
            "run the workflow ",
            "run workflow",
        ] {
            assert_eq!(find_workflow_name(task), None, "{task}");
        }
    }
}
