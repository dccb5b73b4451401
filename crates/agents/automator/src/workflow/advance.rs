//! Decides what follows in a run: reads which work has ended, and goes on from there as far as possible.
//!
//! Nothing is written here. Everything that was decided is one batch, which the engine writes if no other
//! process has changed the run.

use std::collections::BTreeMap;

use lango_protocol::Timestamp;
use lango_store::{Journal, Statement, WorkItem};
use lango_text::to_one_line;
use lango_workflow::{Action, Definition, FailureRule, MAX_ITEM_COUNT, Step, Values};
use serde_json::Value;

use super::Workflows;
use super::engine::TeamDirectory;
use super::run::WorkflowRun;
use super::runs::STOPPED;
use super::step::{StepRow, StepState, WHOLE};
use super::step_values::find_item;
use super::step_work::{FilledAction, build_question, build_step_work};
use crate::AutomatorError;

/// Limits the bytes of the outputs of all items of a step.
const MAX_LIST_BYTES: usize = 1024 * 1024;
/// Limits the characters of a result that is told.
const MAX_TOLD_CHARACTERS: usize = 400;

pub(crate) struct Advance<'a> {
    pub(super) workflows: &'a Workflows,
    pub(super) run: &'a WorkflowRun,
    pub(super) definition: &'a Definition,
    pub(super) rows: BTreeMap<(usize, i64), StepRow>,
    pub(super) now: Timestamp,
    /// The work of steps that start, and cancellations.
    pub(super) statements: Vec<Statement>,
    pub(super) told: Vec<WorkItem>,
    /// The time at which something has to be looked at.
    pub(super) next_look: Option<Timestamp>,
}

/// What concerns the whole run.
pub(super) struct Situation {
    /// True if a step failed and the run ends.
    pub(super) is_stopping: bool,
    /// True if a person has to say how to go on.
    pub(super) is_blocked: bool,
}

impl<'a> Advance<'a> {
    pub(crate) fn new(
        workflows: &'a Workflows,
        run: &'a WorkflowRun,
        definition: &'a Definition,
        rows: Vec<StepRow>,
        now: Timestamp,
    ) -> Self {
        let rows = rows.into_iter().map(|row| (row.key(), row)).collect();
        let (statements, told) = (Vec::new(), Vec::new());
        Self { workflows, run, definition, rows, now, statements, told, next_look: None }
    }

    pub(super) fn change(&mut self, key: (usize, i64), change: impl FnOnce(&mut StepRow)) {
        if let Some(row) = self.rows.get_mut(&key) {
            row.is_changed = true;
            change(row);
        }
    }

    pub(super) fn look_at(&mut self, time: Timestamp) {
        self.next_look = Some(self.next_look.map_or(time, |look| look.min(time)));
    }

    pub(super) fn state(&self, position: usize) -> StepState {
        self.rows.get(&(position, WHOLE)).map_or(StepState::Skipped, |row| row.state)
    }

    pub(super) fn assess(&self) -> Situation {
        let is_fatal = |row: &StepRow| {
            row.item == WHOLE
                && row.state == StepState::Failed
                && self.definition.steps[row.position].on_failure != FailureRule::Continue
        };
        Situation {
            is_stopping: self.rows.values().any(is_fatal),
            is_blocked: self.rows.values().any(|row| row.state == StepState::Unknown),
        }
    }

    /// Goes on until nothing more follows.
    pub(crate) async fn settle(&mut self, directory: &TeamDirectory) -> Result<(), AutomatorError> {
        loop {
            let before = self.count_states();
            for position in 0..self.definition.steps.len() {
                self.settle_items(position).await?;
            }
            let situation = self.assess();
            if situation.is_blocked {
                // What runs ends; a person decides about the rest.
                return Ok(());
            }
            if situation.is_stopping {
                self.skip_rest();
            }
            for position in 0..self.definition.steps.len() {
                if self.state(position) == StepState::Pending
                    && self.is_next(position, situation.is_stopping)
                {
                    self.open_step(position).await?;
                }
            }
            self.start_ready(directory).await?;
            if self.count_states() == before {
                return Ok(());
            }
        }
    }

    fn count_states(&self) -> Vec<(StepState, usize)> {
        let mut counts: Vec<(StepState, usize)> = Vec::new();
        for row in self.rows.values() {
            match counts.iter_mut().find(|(state, _)| *state == row.state) {
                Some((_, count)) => *count += 1,
                None => counts.push((row.state, 1)),
            }
        }
        counts
    }

    fn items(&self, position: usize) -> impl Iterator<Item = &StepRow> {
        self.rows.range((position, 0)..=(position, i64::MAX)).map(|(_, row)| row)
    }

    /// Ends a step with items once all of them have ended.
    async fn settle_items(&mut self, position: usize) -> Result<(), AutomatorError> {
        let step = &self.definition.steps[position];
        let is_container = step.for_each.is_some() && self.state(position) == StepState::Started;
        if !is_container {
            return Ok(());
        }
        let failed = self.items(position).find(|row| row.state == StepState::Failed);
        let failure = failed.map(|row| format!("{}: {}", row.name(), row.reason));
        if failure.is_some() && step.on_failure != FailureRule::Continue {
            let waiting: Vec<_> = self
                .items(position)
                .filter(|row| row.state == StepState::Ready)
                .map(StepRow::key)
                .collect();
            let now = self.now;
            for key in waiting {
                self.change(key, |row| row.end(StepState::Skipped, STOPPED, now));
            }
        }
        if !self.items(position).all(|row| row.state.is_settled()) {
            return Ok(());
        }
        let mut outputs = Vec::new();
        let keys: Vec<(usize, i64)> = self.items(position).map(StepRow::key).collect();
        for key in keys {
            outputs.push(self.load_output(key).await?);
        }
        let outputs = Value::Array(outputs);
        let now = self.now;
        let is_too_long = outputs.to_string().len() > MAX_LIST_BYTES;
        self.change((position, WHOLE), |row| match failure {
            Some(reason) => {
                row.end(StepState::Failed, reason, now);
                row.new_output = Some(if is_too_long { Value::Null } else { outputs });
            }
            None if is_too_long => {
                let reason = format!("its items returned more than {MAX_LIST_BYTES} bytes");
                row.end(StepState::Failed, reason, now);
            }
            None => {
                row.end(StepState::Done, "", now);
                row.new_output = Some(outputs);
            }
        });
        Ok(())
    }

    /// Leaves out what has not started, but for the steps that run because of a failure.
    fn skip_rest(&mut self) {
        let now = self.now;
        let called = self.list_called_handlers();
        for row in self.rows.values_mut() {
            let is_waiting =
                matches!(row.state, StepState::Pending | StepState::Waiting | StepState::Ready);
            if is_waiting && !called.contains(&row.position) {
                row.end(StepState::Skipped, STOPPED, now);
            }
        }
    }

    /// Returns the handlers of steps that failed.
    fn list_called_handlers(&self) -> Vec<usize> {
        let steps = self.definition.steps.iter().enumerate();
        let handler = |(position, step): (usize, &Step)| match step.on_failure {
            FailureRule::Run(handler) if self.state(position) == StepState::Failed => Some(handler),
            _ => None,
        };
        steps.filter_map(handler).collect()
    }

    /// Tells whether a step that is pending comes now.
    fn is_next(&self, position: usize, is_stopping: bool) -> bool {
        let step = &self.definition.steps[position];
        if step.is_handler {
            let others_ended = || {
                let others = self.rows.values().filter(|row| {
                    row.item == WHOLE && !self.definition.steps[row.position].is_handler
                });
                others.into_iter().all(|row| row.state.is_settled())
            };
            return is_stopping || others_ended();
        }
        !is_stopping && step.needs.iter().all(|need| self.state(*need).is_settled())
    }

    /// Decides whether a step is done, after a person was asked where that is said, and for which items.
    async fn open_step(&mut self, position: usize) -> Result<(), AutomatorError> {
        let step = &self.definition.steps[position];
        let key = (position, WHOLE);
        let now = self.now;
        if step.is_handler && !self.list_called_handlers().contains(&position) {
            self.change(key, |row| row.end(StepState::Skipped, "nothing failed", now));
            return Ok(());
        }
        let left_out = step.needs.iter().find(|need| {
            let state = self.state(**need);
            matches!(state, StepState::Skipped | StepState::Cancelled)
        });
        if let Some(need) = left_out {
            let reason = format!("{} was left out", self.definition.steps[*need].id);
            self.change(key, |row| row.end(StepState::Skipped, reason, now));
            return Ok(());
        }
        let values = self.load_values(step.list_used_steps()).await?;
        let asks = self.rows[&key].approved_by.is_empty();
        match decide_opening(step, &values, asks) {
            Ok(Opening::Skip) => {
                self.change(key, |row| {
                    row.end(StepState::Skipped, "its condition does not hold", now);
                });
            }
            Ok(Opening::Ask(question)) => {
                let (id, step) = (&self.run.id, &step.id);
                let text = format!(
                    "{} waits for you: {} Yes: lango workflow approve {id} {step}; no: lango workflow \
                     reject {id} {step}",
                    self.run.name,
                    to_one_line(&question, MAX_TOLD_CHARACTERS),
                );
                self.change(key, |row| row.set(StepState::Waiting, question));
                self.tell(build_question(self.run, &self.rows[&key], text, now)?);
            }
            Ok(Opening::Begin) if step.action == Action::Approval => {
                self.change(key, |row| {
                    row.end(StepState::Done, "", now);
                    row.new_output = Some(Value::Bool(true));
                });
            }
            Ok(Opening::Begin) => self.change(key, |row| row.set(StepState::Ready, "")),
            Ok(Opening::Items(items)) => {
                self.change(key, |row| {
                    row.set(StepState::Started, "");
                    row.started_at = Some(now);
                    row.new_input = Some(Value::Array(items.clone()).to_string());
                });
                for (item, _) in (0..).zip(&items) {
                    let row = StepRow::new(position, item, &step.id, StepState::Ready);
                    self.rows.insert(row.key(), row);
                }
            }
            Err(error) => {
                self.change(key, |row| row.end(StepState::Failed, error.to_string(), now));
            }
        }
        Ok(())
    }

    /// Writes an entry for people, and tells them if it was written.
    pub(super) fn tell(&mut self, item: WorkItem) {
        self.statements.push(Journal::build_work_entry(&item));
        self.told.push(item);
    }

    /// Starts what may start, as far as there is room.
    async fn start_ready(&mut self, directory: &TeamDirectory) -> Result<(), AutomatorError> {
        let limit = self.workflows.jobs.settings.parallel_work.max(1) as usize * 2;
        let has_work = |row: &&StepRow| row.state == StepState::Started && !row.work.is_empty();
        let mut running = self.rows.values().filter(has_work).count();
        let ready: Vec<(usize, i64)> = self
            .rows
            .values()
            .filter(|row| row.state == StepState::Ready)
            .map(StepRow::key)
            .collect();
        for key in ready {
            if let Some(due) = self.rows[&key].due_at.filter(|due| *due > self.now) {
                self.look_at(due);
            } else if running < limit {
                running += usize::from(self.start(key, directory).await?);
            }
        }
        Ok(())
    }

    /// Starts the next attempt of a step or an item. Returns false if it cannot be made.
    async fn start(
        &mut self,
        key: (usize, i64),
        directory: &TeamDirectory,
    ) -> Result<bool, AutomatorError> {
        let step = &self.definition.steps[key.0];
        let now = self.now;
        let mut values = self.load_values(step.list_used_steps()).await?;
        if key.1 != WHOLE {
            values.item = Some(find_item(step, &values, key.1)?);
        }
        let fail = |advance: &mut Self, reason: String| {
            advance.change(key, |row| row.end(StepState::Failed, reason, now));
            Ok(false)
        };
        if let Action::Task { agent: Some(agent), .. } = &step.action
            && !(directory.has_agent)(&self.run.space, agent)
        {
            return fail(self, format!("there is no agent {agent}. See: lango agents list"));
        }
        let filled = match FilledAction::of(step, &values) {
            Ok(Some(filled)) => filled,
            Ok(None) => return fail(self, "the step does nothing".to_owned()),
            Err(error) => return fail(self, error.to_string()),
        };
        let find = &directory.find_tool_owner;
        let owner = filled.tool().and_then(|tool| find(&self.run.space, tool));
        let tool = filled.tool().map(str::to_owned);
        let input = filled.describe();
        let Some(turn_input) = filled.into_input(owner) else {
            let tool = tool.unwrap_or_default();
            return fail(self, format!("no agent has the tool {tool}. See: lango tools list"));
        };
        self.change(key, |row| {
            row.attempt += 1;
            row.set(StepState::Started, "");
            (row.due_at, row.started_at, row.ended_at) = (None, Some(now), None);
            row.new_input = Some(input);
        });
        let item = build_step_work(self.run, &self.rows[&key], turn_input, now)?;
        self.statements.push(Journal::build_work_entry(&item));
        self.statements.push(Journal::build_delivery(&item.id));
        self.change(key, |row| row.work.clone_from(&item.id));
        if let Some(timeout) = step.timeout {
            self.look_at(now.plus(timeout));
        }
        Ok(true)
    }
}

/// What a step does once the steps that it needs have ended.
enum Opening {
    Skip,
    Ask(String),
    Begin,
    Items(Vec<Value>),
}

fn decide_opening(step: &Step, values: &Values, asks: bool) -> Result<Opening, AutomatorError> {
    if let Some(when) = &step.when
        && !when.holds(values)?
    {
        return Ok(Opening::Skip);
    }
    if let Some(question) = &step.approve
        && asks
    {
        return Ok(Opening::Ask(question.render_text(values)?));
    }
    let Some(items) = &step.for_each else { return Ok(Opening::Begin) };
    match items.render(values)? {
        Value::Array(items) if items.len() > MAX_ITEM_COUNT => {
            let count = items.len();
            let reason =
                format!("for_each has {count} items, and at most {MAX_ITEM_COUNT} are allowed");
            Err(AutomatorError::Refused(reason))
        }
        Value::Array(items) => Ok(Opening::Items(items)),
        other => {
            let shown = to_one_line(&other.to_string(), 80);
            Err(AutomatorError::Refused(format!("for_each needs a list, and got {shown}")))
        }
    }
}
