//! Describes a job: a task with a schedule.

use lango_protocol::{SessionId, Space, Timestamp};
use lango_schedule::Schedule;
use lango_store::Row;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{AutomatorError, NotificationRoutes, SpendLimits};

stored_names! {
    /// What to do about occurrences that no process acted on in time.
    CatchUp {
        /// Leave them out.
        Skip = "skip",
        /// Run once for all of them.
        Once = "once",
    }
}

stored_names! {
    /// What to do about an occurrence while the run before it has not ended.
    Overlap {
        /// Leave it out.
        Skip = "skip",
        /// Run it afterwards.
        Queue = "queue",
    }
}

stored_names! {
    /// What happens at an occurrence.
    JobAction {
        /// The task is done by the team, in a turn.
        Run = "run",
        /// The user is told the task. No model is called.
        Remind = "remind",
        /// A workflow is run.
        Workflow = "workflow",
    }
}

stored_names! {
    /// Whether a job is acted on.
    JobState {
        /// It is.
        Active = "active",
        /// Not until it is resumed.
        Paused = "paused",
        /// It has no occurrence left.
        Ended = "ended",
    }
}

/// A job.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// Its id: its name, shortened, and random characters.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Whose job it is. It runs with their rights.
    pub space: Space,
    /// The directory that it works in.
    pub workspace: String,
    /// What to do.
    pub task: String,
    /// What happens at an occurrence.
    pub action: JobAction,
    /// When it happens.
    pub schedule: Schedule,
    /// The schedule as it was said.
    pub said: String,
    /// What to do about missed occurrences.
    pub catch_up: CatchUp,
    /// What to do while an earlier run has not ended.
    pub overlap: Overlap,
    /// Whether it is acted on.
    pub state: JobState,
    /// How many jobs led to this one.
    pub depth: u32,
    /// The job whose run created it; empty if a person did.
    pub creator: String,
    /// The conversation in which it was created.
    pub session: Option<SessionId>,
    /// The time when it was created.
    pub created_at: Timestamp,
    /// The next occurrence.
    pub next_due: Option<Timestamp>,
    /// Who is notified; as the configuration says if absent.
    pub notify: Option<NotificationRoutes>,
    /// What each run may spend; as the configuration says if absent.
    pub budget: Option<SpendLimits>,
    /// The workflow that it runs, as it was when the job was added.
    pub workflow: Option<JobWorkflow>,
}

/// The workflow of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct JobWorkflow {
    /// Its definition.
    pub definition: String,
    /// Its inputs.
    pub inputs: Map<String, Value>,
}

/// The columns of a job, in the order of [`Job::read`].
pub(crate) const COLUMNS: &str = "id, name, client, workspace, task, action, schedule, said, zone, \
     catch_up, overlap, state, depth, creator, session, created_at, next_due, notify, budget, definition, \
     inputs";

impl Job {
    pub(crate) fn read(row: &Row) -> Result<Self, AutomatorError> {
        let text = |column| row.text(column).map(str::to_owned);
        let session = row.text(14)?;
        let time = |time: Option<i64>| time.map(Timestamp::from_microseconds);
        Ok(Self {
            id: text(0)?,
            name: text(1)?,
            space: Space::from_stored(row.text(2)?)
                .map_err(|error| AutomatorError::unreadable(&error.to_string()))?,
            workspace: text(3)?,
            task: text(4)?,
            action: JobAction::from_stored(row.text(5)?)?,
            schedule: Schedule::read(row.text(6)?, row.text(8)?)?,
            said: text(7)?,
            catch_up: CatchUp::from_stored(row.text(9)?)?,
            overlap: Overlap::from_stored(row.text(10)?)?,
            state: JobState::from_stored(row.text(11)?)?,
            depth: u32::try_from(row.integer(12)?).unwrap_or(u32::MAX),
            creator: text(13)?,
            session: session.parse().ok(),
            created_at: Timestamp::from_microseconds(row.integer(15)?),
            next_due: time(row.optional_integer(16)?),
            notify: read_setting(row.text(17)?)?,
            budget: read_setting(row.text(18)?)?,
            workflow: match row.text(19)? {
                "" => None,
                definition => Some(JobWorkflow {
                    definition: definition.to_owned(),
                    inputs: read_setting(row.text(20)?)?.unwrap_or_default(),
                }),
            },
        })
    }

    /// Returns the session of its turns.
    pub fn own_session(&self) -> Result<SessionId, AutomatorError> {
        let session = format!("job-{}", self.id).parse();
        session.map_err(|error: lango_protocol::InvalidName| {
            AutomatorError::unreadable(&error.to_string())
        })
    }

    /// Returns the id of an occurrence. The same occurrence has the same id in every process.
    pub fn occurrence_id(&self, at: Timestamp) -> String {
        format!("{}@{}", self.id, at.as_microseconds().div_euclid(1_000_000))
    }

    /// Returns the next moments after another, as the clock of its zone shows them.
    pub fn list_next(&self, after: Timestamp, count: usize) -> Vec<String> {
        let moments = self.schedule.upcoming(to_moment(after)).take(count);
        moments.map(|moment| self.schedule.show_moment(moment)).collect()
    }
}

/// Reads a setting of a job that is stored as JSON; none if the job has none of its own.
fn read_setting<T: DeserializeOwned>(text: &str) -> Result<Option<T>, AutomatorError> {
    if text.is_empty() {
        return Ok(None);
    }
    let read = serde_json::from_str(text);
    read.map(Some).map_err(|error| AutomatorError::unreadable(&error.to_string()))
}

/// Writes a setting of a job as JSON.
pub(crate) fn write_setting<T: Serialize>(setting: Option<&T>) -> Result<String, AutomatorError> {
    let Some(setting) = setting else { return Ok(String::new()) };
    serde_json::to_string(setting).map_err(|error| AutomatorError::unreadable(&error.to_string()))
}

/// Converts a time for the schedule.
pub(crate) fn to_moment(time: Timestamp) -> jiff::Timestamp {
    jiff::Timestamp::from_microsecond(time.as_microseconds()).unwrap_or(jiff::Timestamp::MAX)
}

/// Converts a moment of the schedule.
pub(crate) fn from_moment(moment: jiff::Timestamp) -> Timestamp {
    Timestamp::from_microseconds(moment.as_microsecond())
}

/// Reads jobs.
pub(crate) fn read_jobs(rows: &[Row]) -> Result<Vec<Job>, AutomatorError> {
    rows.iter().map(Job::read).collect()
}
