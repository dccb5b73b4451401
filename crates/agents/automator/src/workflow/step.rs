//! Describes how far a step of a run is.

use lango_protocol::Timestamp;
use lango_store::{Row, Statement};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::AutomatorError;

stored_names! {
    /// How far a step is, or one item of it.
    StepState {
        /// The steps that it needs have not ended.
        Pending = "pending",
        /// It waits for a person.
        Waiting = "waiting",
        /// It may start, now or after a pause.
        Ready = "ready",
        /// Its work is queued or runs, or that of its items.
        Started = "started",
        /// It was done.
        Done = "done",
        /// It failed.
        Failed = "failed",
        /// It was left out.
        Skipped = "skipped",
        /// Its run was cancelled.
        Cancelled = "cancelled",
        /// It was interrupted after it may have had an effect.
        Unknown = "unknown",
    }
}

impl StepState {
    /// Tells whether nothing more happens to it by itself.
    pub fn is_settled(self) -> bool {
        matches!(self, Self::Done | Self::Failed | Self::Skipped | Self::Cancelled)
    }
}

/// The item of the row of a whole step.
pub(crate) const WHOLE: i64 = -1;

/// A step of a run, or one item of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct StepRow {
    /// The position of the step in the definition.
    pub(crate) position: usize,
    /// The item, or [`WHOLE`].
    pub(crate) item: i64,
    pub(crate) step: String,
    pub(crate) state: StepState,
    /// The number of pieces of work that were started for it.
    pub(crate) attempt: u32,
    /// How often it failed.
    pub(crate) failures: u32,
    /// The id of its work; empty if it has none now.
    pub(crate) work: String,
    /// The time before which it does not start.
    pub(crate) due_at: Option<Timestamp>,
    /// Why it failed, was left out or waits.
    pub(crate) reason: String,
    /// The person who agreed; empty if none has.
    pub(crate) approved_by: String,
    pub(crate) started_at: Option<Timestamp>,
    pub(crate) ended_at: Option<Timestamp>,
    /// What it is given, if that is to be written.
    pub(crate) new_input: Option<String>,
    /// What it returned, if that is to be written.
    pub(crate) new_output: Option<Value>,
    pub(crate) is_new: bool,
    pub(crate) is_changed: bool,
}

/// The columns of a step, in the order of [`StepRow::read`].
pub(crate) const COLUMNS: &str = "position, item, step, state, attempt, failures, work, due_at, reason, \
     approved_by, started_at, ended_at";

impl StepRow {
    /// Creates a row that is not written yet.
    pub(crate) fn new(position: usize, item: i64, step: &str, state: StepState) -> Self {
        Self {
            position,
            item,
            step: step.to_owned(),
            state,
            attempt: 0,
            failures: 0,
            work: String::new(),
            due_at: None,
            reason: String::new(),
            approved_by: String::new(),
            started_at: None,
            ended_at: None,
            new_input: None,
            new_output: None,
            is_new: true,
            is_changed: true,
        }
    }

    pub(crate) fn read(row: &Row) -> Result<Self, AutomatorError> {
        let count =
            |column| Ok::<_, AutomatorError>(u32::try_from(row.integer(column)?).unwrap_or(0));
        let time = |column| {
            let time = row.optional_integer(column)?;
            Ok::<_, AutomatorError>(time.map(Timestamp::from_microseconds))
        };
        let (position, item) = (row.integer(0)?, row.integer(1)?);
        Ok(Self {
            state: StepState::from_stored(row.text(3)?)?,
            attempt: count(4)?,
            failures: count(5)?,
            work: row.text(6)?.to_owned(),
            due_at: time(7)?,
            reason: row.text(8)?.to_owned(),
            approved_by: row.text(9)?.to_owned(),
            started_at: time(10)?,
            ended_at: time(11)?,
            is_new: false,
            is_changed: false,
            ..Self::new(
                usize::try_from(position).unwrap_or(usize::MAX),
                item,
                row.text(2)?,
                StepState::Pending,
            )
        })
    }

    /// Returns its name: the id of the step, and the number of the item.
    pub(crate) fn name(&self) -> String {
        if self.item == WHOLE { self.step.clone() } else { format!("{}.{}", self.step, self.item) }
    }

    pub(crate) fn key(&self) -> (usize, i64) {
        (self.position, self.item)
    }

    /// Changes the state.
    pub(crate) fn set(&mut self, state: StepState, reason: impl Into<String>) {
        self.state = state;
        self.reason = reason.into();
        self.is_changed = true;
    }

    /// Ends it.
    pub(crate) fn end(&mut self, state: StepState, reason: impl Into<String>, now: Timestamp) {
        self.set(state, reason);
        (self.work, self.due_at, self.ended_at) = (String::new(), None, Some(now));
    }

    /// Returns the statement that writes it.
    pub(crate) fn build_write(&self, run: &str) -> Statement {
        let position = i64::try_from(self.position).unwrap_or(i64::MAX);
        let sql = if self.is_new {
            "INSERT INTO workflow_steps (run, position, item, step, state, attempt, failures, work, due_at, \
             reason, approved_by, started_at, ended_at, input, output) VALUES ($1, $2, $3, $4, $5, $6, $7, \
             $8, $9, $10, $11, $12, $13, COALESCE(CAST($14 AS TEXT), ''), \
             COALESCE(CAST($15 AS TEXT), ''))"
        } else {
            "UPDATE workflow_steps SET step = $4, state = $5, attempt = $6, failures = $7, work = $8, \
             due_at = $9, reason = $10, approved_by = $11, started_at = $12, ended_at = $13, \
             input = COALESCE(CAST($14 AS TEXT), input), output = COALESCE(CAST($15 AS TEXT), output) \
             WHERE run = $1 AND position = $2 AND item = $3"
        };
        Statement::new(sql)
            .bind(run)
            .bind(position)
            .bind(self.item)
            .bind(self.step.as_str())
            .bind(self.state.as_str())
            .bind(self.attempt)
            .bind(self.failures)
            .bind(self.work.as_str())
            .bind(self.due_at.map(Timestamp::as_microseconds))
            .bind(self.reason.as_str())
            .bind(self.approved_by.as_str())
            .bind(self.started_at.map(Timestamp::as_microseconds))
            .bind(self.ended_at.map(Timestamp::as_microseconds))
            .bind(self.new_input.clone())
            .bind(self.new_output.as_ref().map(Value::to_string))
            .expect_rows(1)
    }
}
