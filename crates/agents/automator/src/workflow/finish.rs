//! Ends an advance: what became of the run, and everything that is to be written.

use lango_protocol::Timestamp;
use lango_store::{Batch, Statement, WorkItem, WorkState};
use lango_workflow::FailureRule;
use serde_json::{Map, Value};

use super::advance::Advance;
use super::run::RunState;
use super::step::{StepRow, StepState, WHOLE};
use super::step_work::{build_question, build_run_end};
use crate::AutomatorError;

impl Advance<'_> {
    /// Returns everything that was decided, and what people are to be told.
    pub(crate) async fn finish(mut self) -> Result<(Batch, Vec<WorkItem>), AutomatorError> {
        let situation = self.assess();
        let is_over = self.rows.values().all(|row| row.state.is_settled());
        let (mut state, mut reason, mut outputs) = (RunState::Running, String::new(), Map::new());
        let describe = |row: &StepRow| format!("{}: {}", row.name(), row.reason);
        if situation.is_blocked {
            let unknown = self.rows.values().find(|row| row.state == StepState::Unknown);
            (state, reason) = (RunState::Blocked, unknown.map(describe).unwrap_or_default());
            // Each one that was not told before.
            let new =
                self.rows.values().filter(|row| row.state == StepState::Unknown && row.is_changed);
            let questions: Result<Vec<_>, _> = new.map(|row| self.ask_about(row)).collect();
            for question in questions? {
                self.tell(question);
            }
        } else if is_over && situation.is_stopping {
            let failed = self.rows.values().find(|row| {
                row.item == WHOLE
                    && row.state == StepState::Failed
                    && self.definition.steps[row.position].on_failure != FailureRule::Continue
            });
            (state, reason) = (RunState::Failed, failed.map(describe).unwrap_or_default());
        } else if is_over {
            state = RunState::Done;
            outputs = self.render_outputs().await?;
        }
        if state.has_ended() {
            let work_state =
                if state == RunState::Done { WorkState::Done } else { WorkState::Failed };
            let result = match state {
                RunState::Done if outputs.is_empty() => String::new(),
                RunState::Done => Value::Object(outputs.clone()).to_string(),
                _ => reason.clone(),
            };
            self.tell(build_run_end(self.run, work_state, result, self.now)?);
        }
        let ended_at = if state.has_ended() { Some(self.now) } else { self.run.ended_at };
        let update = Statement::new(
            "UPDATE workflow_runs SET state = $3, reason = $4, outputs = $5, ended_at = $6, next_look = $7, \
             revision = revision + 1 WHERE id = $1 AND revision = $2 AND state IN ('running', 'blocked')",
        )
        .bind(self.run.id.as_str())
        .bind(self.run.revision)
        .bind(state.as_str())
        .bind(reason)
        .bind(Value::Object(outputs).to_string())
        .bind(ended_at.map(Timestamp::as_microseconds))
        .bind(self.next_look.map(Timestamp::as_microseconds))
        .expect_rows(1);
        let mut batch = Batch::from(update);
        for row in self.rows.values().filter(|row| row.is_changed) {
            batch.push(row.build_write(&self.run.id));
        }
        for statement in self.statements {
            batch.push(statement);
        }
        Ok((batch, self.told))
    }

    /// Returns the question about a step whose outcome is not known.
    fn ask_about(&self, row: &StepRow) -> Result<WorkItem, AutomatorError> {
        let (id, name) = (&self.run.id, row.name());
        let text = format!(
            "{} is stopped at {name}: {}. If it was done: lango workflow approve {id} {name}; if it was \
             not: lango workflow retry {id} {name}",
            self.run.name, row.reason
        );
        build_question(self.run, row, text, self.now)
    }

    /// Fills in the outputs of the run. One that uses what a step did not return has no value.
    async fn render_outputs(&mut self) -> Result<Map<String, Value>, AutomatorError> {
        let definition = self.definition;
        let mut outputs = Map::new();
        for (name, template) in &definition.outputs {
            let values = self.load_values(template.list_used_steps()).await?;
            outputs.insert(name.clone(), template.render(&values).unwrap_or(Value::Null));
        }
        Ok(outputs)
    }
}
