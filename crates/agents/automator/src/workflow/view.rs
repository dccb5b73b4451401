//! Shows runs to models, programs and people.

use lango_protocol::Timestamp;
use lango_store::Row;
use lango_text::{code_span, make_visible, to_one_line};
use serde::Serialize;
use serde_json::{Map, Value};

use super::run::{RunState, WorkflowRun};
use super::step::{StepRow, StepState, WHOLE};
use crate::AutomatorError;

/// Limits the characters of a reason or an output in a line.
const MAX_LINE_CHARACTERS: usize = 160;
/// Sets the width of a bar.
const BAR_CHARACTERS: usize = 24;
/// Limits the characters of the steps that run, beside a bar.
const MAX_RUNNING_CHARACTERS: usize = 30;
/// Limits the characters of a line about the progress of a run.
const MAX_PROGRESS_CHARACTERS: usize = 200;

/// A run as it is shown.
#[derive(Debug, Clone, Serialize)]
pub struct WorkflowRunView {
    /// Its id.
    pub id: String,
    /// The name of the workflow.
    pub name: String,
    /// `running`, `waiting` (for a person), `blocked`, `done`, `failed` or `cancelled`.
    pub state: &'static str,
    /// Why it failed or is blocked.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Its inputs.
    pub inputs: Map<String, Value>,
    /// What it returned.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub outputs: Map<String, Value>,
    /// The time when it began.
    pub created: Timestamp,
    /// The time when it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
    /// The directory that it works in.
    pub workspace: String,
    /// Its steps, and the items of steps with `for_each` after them.
    pub steps: Vec<StepView>,
}

/// A step of a run, or one item of it, as it is shown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepView {
    /// Its name: the id, and the number of the item.
    pub step: String,
    /// How far it is.
    pub state: &'static str,
    /// How often it was started.
    #[serde(skip_serializing_if = "is_zero")]
    pub attempts: u32,
    /// Why it failed, was left out or waits; of a step that asks, the question.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The person who agreed to it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub approved_by: String,
    /// The conversation in which it runs now.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub session: String,
    /// What it was given.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub input: String,
    /// What it returned.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub output: Value,
    /// True if it is an item of the step before it.
    #[serde(skip)]
    pub is_item: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl WorkflowRunView {
    /// Shows a run with the rows of its steps.
    pub(crate) fn build(run: &WorkflowRun, rows: &[Row]) -> Result<Self, AutomatorError> {
        let mut steps = Vec::with_capacity(rows.len());
        let mut states = Vec::with_capacity(rows.len());
        for row in rows {
            let step = StepRow::read(row)?;
            states.push((step.state, step.work.is_empty()));
            steps.push(StepView {
                step: step.name(),
                state: step.state.as_str(),
                attempts: step.attempt,
                is_item: step.item != WHOLE,
                reason: step.reason,
                approved_by: step.approved_by,
                session: step.work,
                input: row.text(12)?.to_owned(),
                output: serde_json::from_str(row.text(13)?).unwrap_or(Value::Null),
            });
        }
        let has = |wanted: StepState| states.iter().any(|(state, _)| *state == wanted);
        let runs = states.iter().any(|(state, has_no_work)| {
            *state == StepState::Ready || (*state == StepState::Started && !has_no_work)
        });
        let is_waiting = run.state == RunState::Running && has(StepState::Waiting) && !runs;
        Ok(Self {
            id: run.id.clone(),
            name: run.name.clone(),
            state: if is_waiting { "waiting" } else { run.state.as_str() },
            reason: run.reason.clone(),
            inputs: run.inputs.clone(),
            outputs: run.outputs.clone(),
            created: run.created_at,
            ended: run.ended_at.filter(|_| run.state.has_ended()),
            workspace: run.workspace.clone(),
            steps,
        })
    }

    /// Tells whether it goes on only once a person has decided something.
    pub fn waits_for_person(&self) -> bool {
        matches!(self.state, "waiting" | "blocked")
    }

    /// Tells whether it has ended.
    pub fn has_ended(&self) -> bool {
        matches!(self.state, "done" | "failed" | "cancelled")
    }

    /// Returns how many steps have ended, and how many there are.
    fn count_ended(&self) -> (usize, usize) {
        let steps = self.steps.iter().filter(|step| !step.is_item);
        let is_ended =
            |step: &&StepView| matches!(step.state, "done" | "failed" | "skipped" | "cancelled");
        (steps.clone().filter(is_ended).count(), steps.count())
    }

    /// Renders a bar of how far it is, with the steps that run now.
    pub fn render_bar(&self) -> String {
        let (ended, all) = self.count_ended();
        let full = ended * BAR_CHARACTERS / all.max(1);
        let marks: String =
            (0..BAR_CHARACTERS).map(|place| if place < full { '█' } else { '░' }).collect();
        let running = self.steps.iter().filter(|step| step.state == "started");
        let running: Vec<&str> = running.map(|step| step.step.as_str()).collect();
        let running = to_one_line(&running.join(", "), MAX_RUNNING_CHARACTERS);
        make_visible(&format!("{marks} {ended}/{all} steps  {running}"))
    }

    /// Describes how far a step is in one line, with how many steps have ended.
    pub fn describe_progress(&self, step: &StepView) -> String {
        let (ended, all) = self.count_ended();
        let reason =
            if step.reason.is_empty() { String::new() } else { format!(": {}", step.reason) };
        let line = format!("[{ended}/{all}] {} is {}{reason}", step.step, step.state);
        make_visible(&to_one_line(&line, MAX_PROGRESS_CHARACTERS))
    }

    /// Renders the steps as a list in Markdown.
    pub(crate) fn render_steps(&self) -> String {
        let lines = self.steps.iter().filter(|step| !step.is_item || step.state != "done");
        lines.map(StepView::render_line).collect::<Vec<_>>().join("\n")
    }
}

impl StepView {
    fn render_line(&self) -> String {
        let indent = if self.is_item { "  " } else { "" };
        let line = format!("{indent}- {}: {}", code_span(&self.step), self.state);
        let more =
            if self.reason.is_empty() { self.describe_output() } else { self.reason.clone() };
        if more.is_empty() {
            return line;
        }
        format!("{line}: {}", to_one_line(&more, MAX_LINE_CHARACTERS))
    }

    /// Returns the output as a text; empty if there is none.
    pub fn describe_output(&self) -> String {
        match &self.output {
            Value::Null => String::new(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        }
    }
}
