//! Defines the automator's settings.

use std::fmt;

use lango_schedule::Zone;

use crate::{NotificationMeans, NotificationRoutes, PriceLookup, SpendLimits};

/// The settings of the automator.
#[derive(Clone)]
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
    /// Who is notified of the work of jobs that do not say it, and of all other work.
    pub notify: NotificationRoutes,
    /// The names of the channels.
    pub channels: Vec<String>,
    /// What notifications are delivered with; without it, none is.
    pub notification_means: Option<NotificationMeans>,
    /// What each run may spend that does not say it.
    pub run_budget: SpendLimits,
    /// What all work of one owner may spend in a day.
    pub day_budget: SpendLimits,
    /// The prices of models.
    pub prices: Option<PriceLookup>,
}

impl Default for AutomatorSettings {
    fn default() -> Self {
        Self {
            zone: Zone::of_machine(),
            workspace: String::new(),
            max_job_count: 1000,
            max_task_count: 100,
            parallel_work: 4,
            notify: NotificationRoutes::default(),
            channels: Vec::new(),
            notification_means: None,
            run_budget: SpendLimits::default(),
            day_budget: SpendLimits::default(),
            prices: None,
        }
    }
}

impl fmt::Debug for AutomatorSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AutomatorSettings")
            .field("workspace", &self.workspace)
            .field("zone", &self.zone)
            .finish_non_exhaustive()
    }
}
