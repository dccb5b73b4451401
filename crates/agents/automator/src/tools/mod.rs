//! Defines the automator's tools.

mod add_job;
mod change_job;
mod list_jobs;
mod submit_task;
mod tasks;

pub(crate) use add_job::AddJob;
pub(crate) use change_job::{PauseJob, RemoveJob, ResumeJob};
pub(crate) use list_jobs::{ListJobs, ShowHistory};
pub(crate) use submit_task::SubmitTask;
pub(crate) use tasks::{CancelTask, ListTasks, ShowResult, ShowTask};
