//! Defines the automator's tools.

mod add_job;
mod change_job;
mod list_jobs;
mod run_workflow;
mod submit_task;
mod tasks;
mod workflows;

pub(crate) use add_job::AddJob;
pub(crate) use change_job::{PauseJob, RemoveJob, ResumeJob};
pub(crate) use list_jobs::{ListJobs, ShowHistory};
pub(crate) use run_workflow::RunWorkflow;
pub(crate) use submit_task::SubmitTask;
pub(crate) use tasks::{CancelTask, ListTasks, ShowResult, ShowTask};
pub(crate) use workflows::{CancelRun, ListWorkflows, SaveWorkflow, ShowRun};
