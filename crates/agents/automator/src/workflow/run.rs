//! Describes a run of a workflow.

use lango_protocol::{SessionId, Space, Timestamp};
use lango_store::Row;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::AutomatorError;

stored_names! {
    /// How far a run is.
    RunState {
        /// Its steps run, or wait for their turn or a person.
        Running = "running",
        /// The outcome of a step is not known, and a person has to say how to go on.
        Blocked = "blocked",
        /// All of it was done.
        Done = "done",
        /// A step failed.
        Failed = "failed",
        /// It was cancelled.
        Cancelled = "cancelled",
    }
}

impl RunState {
    /// Tells whether it has ended.
    pub fn has_ended(self) -> bool {
        !matches!(self, Self::Running | Self::Blocked)
    }
}

/// A run of a workflow.
#[derive(Debug, Clone, PartialEq)]
pub struct WorkflowRun {
    /// Its id.
    pub id: String,
    /// The name of the workflow.
    pub name: String,
    /// Whose run it is. Its steps run with their rights.
    pub space: Space,
    /// The directory that it works in.
    pub workspace: String,
    /// The definition as it was when the run began.
    pub definition: String,
    /// The inputs.
    pub inputs: Map<String, Value>,
    /// How far it is.
    pub state: RunState,
    /// Why it failed or is blocked.
    pub reason: String,
    /// What it returned.
    pub outputs: Map<String, Value>,
    /// How many pieces of work led to it.
    pub depth: u32,
    /// The conversation that asked for it.
    pub session: Option<SessionId>,
    /// The time when it began.
    pub created_at: Timestamp,
    /// The time when it ended last.
    pub ended_at: Option<Timestamp>,
    pub(crate) revision: i64,
}

/// The columns of a run, in the order of [`WorkflowRun::read`].
pub(crate) const COLUMNS: &str = "id, name, client, workspace, definition, inputs, state, reason, outputs, \
     depth, session, created_at, ended_at, revision";

impl WorkflowRun {
    pub(crate) fn read(row: &Row) -> Result<Self, AutomatorError> {
        let text = |column| row.text(column).map(str::to_owned);
        let unreadable = |error: &dyn std::fmt::Display| {
            AutomatorError::Refused(format!("a run in the database cannot be read: {error}"))
        };
        let map = |column| -> Result<Map<String, Value>, AutomatorError> {
            serde_json::from_str(row.text(column)?).map_err(|error| unreadable(&error))
        };
        Ok(Self {
            id: text(0)?,
            name: text(1)?,
            space: Space::from_stored(row.text(2)?).map_err(|error| unreadable(&error))?,
            workspace: text(3)?,
            definition: text(4)?,
            inputs: map(5)?,
            state: RunState::from_stored(row.text(6)?)?,
            reason: text(7)?,
            outputs: map(8)?,
            depth: u32::try_from(row.integer(9)?).unwrap_or(u32::MAX),
            session: row.text(10)?.parse().ok(),
            created_at: Timestamp::from_microseconds(row.integer(11)?),
            ended_at: row.optional_integer(12)?.map(Timestamp::from_microseconds),
            revision: row.integer(13)?,
        })
    }

    /// Reads what is needed to end a run and to tell it.
    pub(crate) fn read_damaged(id: &str, row: &Row) -> Result<Self, AutomatorError> {
        Ok(Self {
            id: id.to_owned(),
            name: row.text(0)?.to_owned(),
            space: Space::from_stored(row.text(1)?)
                .map_err(|error| AutomatorError::unreadable(&error.to_string()))?,
            workspace: row.text(2)?.to_owned(),
            definition: String::new(),
            inputs: Map::new(),
            state: RunState::Running,
            reason: String::new(),
            outputs: Map::new(),
            depth: u32::try_from(row.integer(4)?).unwrap_or(u32::MAX),
            session: row.text(3)?.parse().ok(),
            created_at: Timestamp::from_microseconds(row.integer(5)?),
            ended_at: row.optional_integer(6)?.map(Timestamp::from_microseconds),
            revision: row.integer(7)?,
        })
    }
}
