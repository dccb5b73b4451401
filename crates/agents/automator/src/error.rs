//! Defines the automator's errors.

use lango_schedule::ScheduleError;
use lango_store::StoreError;
use lango_tool::ToolError;
use lango_workflow::WorkflowError;

/// Says why work could not be set up, found or changed.
#[derive(Debug, thiserror::Error)]
pub enum AutomatorError {
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The schedule cannot be used.
    #[error(transparent)]
    Schedule(#[from] ScheduleError),
    /// The user: something impossible was asked for.
    #[error("{0}")]
    Refused(String),
    /// No job is meant by these words.
    #[error("there is no job {0:?}. See: lango cron list")]
    UnknownJob(String),
    /// Several jobs are meant by these words.
    #[error("{given:?} could be any of {}. Name one by its id", names.join(", "))]
    SeveralJobs {
        /// The words.
        given: String,
        /// The ids of the jobs.
        names: Vec<String>,
    },
    /// A workflow cannot be used.
    #[error(transparent)]
    Workflow(#[from] WorkflowError),
    /// No workflow is meant by this name.
    #[error("there is no workflow {0:?}. See: lango workflow list")]
    UnknownWorkflow(String),
    /// No run of a workflow is meant by this id.
    #[error("there is no run {0:?}. See: lango workflow list")]
    UnknownRun(String),
    /// No background task is meant by these words.
    #[error("there is no background task {0:?}. See: lango bg list")]
    UnknownTask(String),
}

impl AutomatorError {
    /// Returns the error of a job of the database that cannot be read.
    pub(crate) fn unreadable(reason: &str) -> Self {
        Self::Refused(format!("a job in the database cannot be read: {reason}"))
    }
}

impl From<AutomatorError> for ToolError {
    fn from(error: AutomatorError) -> Self {
        match error {
            AutomatorError::Schedule(error) => Self::Arguments(error.to_string()),
            AutomatorError::Workflow(error) => Self::Arguments(error.to_string()),
            AutomatorError::UnknownWorkflow(name) => {
                Self::Failed(format!("there is no workflow {name:?}; workflow_list lists them"))
            }
            AutomatorError::UnknownRun(id) => {
                Self::Failed(format!("there is no run {id:?}; workflow_list lists them"))
            }
            AutomatorError::UnknownJob(words) => {
                Self::Failed(format!("there is no job {words:?}; cron_list lists them"))
            }
            AutomatorError::UnknownTask(words) => {
                Self::Failed(format!("there is no background task {words:?}; bg_list lists them"))
            }
            other => Self::Failed(other.to_string()),
        }
    }
}
