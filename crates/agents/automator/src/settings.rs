//! Defines the automator's settings.

use lango_schedule::Zone;

/// The settings of the automator.
#[derive(Debug, Clone)]
pub struct AutomatorSettings {
    /// The time zone of jobs that name none.
    pub zone: Zone,
    /// The directory in which work that is set up now will run.
    pub workspace: String,
    /// Limits the jobs of one owner.
    pub max_job_count: u32,
    /// Limits the background tasks of one owner that have not ended.
    pub max_task_count: u32,
    /// Limits the pieces of work that run at once in a workspace.
    pub parallel_work: u32,
}

impl Default for AutomatorSettings {
    fn default() -> Self {
        Self {
            zone: Zone::of_machine(),
            workspace: String::new(),
            max_job_count: 1000,
            max_task_count: 100,
            parallel_work: 4,
        }
    }
}
