//! Work that happens later: the keys of `[automator]`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Jobs and background tasks.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct AutomatorConfig {
    /// false: no jobs and no background tasks.
    pub enabled: bool,
    /// The time zone of jobs that name none, such as `Europe/Berlin`; that of the machine when absent.
    pub timezone: Option<String>,
    /// Pieces of work that run at the same time in one directory.
    pub parallel_work: u32,
    /// Jobs that one owner may have.
    pub max_jobs: u32,
    /// Background tasks of one owner that may wait or run.
    pub max_tasks: u32,
}

impl Default for AutomatorConfig {
    fn default() -> Self {
        let settings = lango_automator::AutomatorSettings::default();
        Self {
            enabled: true,
            timezone: None,
            parallel_work: settings.parallel_work,
            max_jobs: settings.max_job_count,
            max_tasks: settings.max_task_count,
        }
    }
}
