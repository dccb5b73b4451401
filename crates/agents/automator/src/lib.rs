//! The automator: work that happens later, again and again, or in the background.
//!
//! A job has a schedule; a scheduler writes a piece of work for each of its occurrences, once, and the
//! runtime runs it as a promised turn (`WorkRunner` in `lango-runtime`). A background task is a piece of
//! work without a schedule. A workflow is a graph of steps, each a piece of work (`workflow/`).

#[macro_use]
mod stored_name;

mod agent;
mod background;
mod error;
mod job;
mod job_settings;
mod job_workflow;
mod jobs;
mod matching;
mod notify;
mod presence;
mod progress;
mod reminder;
mod result_context;
mod scheduler;
mod schema;
mod service;
mod settings;
mod spend;
mod tools;
mod view;
mod workflow;

pub use agent::{AutomatorAgent, AutomatorResources};
pub use background::{BACKGROUND_KIND, BackgroundTasks, NewTask};
pub use error::AutomatorError;
pub use job::{CatchUp, Job, JobAction, JobState, JobWorkflow, Overlap};
pub use job_settings::JobChange;
pub use job_workflow::find_workflow_name;
pub use jobs::{JOB_KIND, JobBook, NewJob};
pub use notify::{
    ChannelOpener, DeliveryState, NotificationMeans, NotificationRoutes, NotificationView, Notifier,
};
pub use presence::{DueTime, LocalRunner, Presence, ServiceKind};
pub use scheduler::Scheduler;
pub use service::AutomationService;
pub use settings::AutomatorSettings;
pub use spend::{PriceLookup, SpendLimits, Spending};
pub use view::{JobView, RunView};
pub use workflow::{
    Lookup, NewRun, RunState, SavedWorkflow, StepState, StepView, TeamDirectory, WORKFLOW_KIND,
    WORKFLOW_QUESTION_KIND, WORKFLOW_RUN_KIND, WorkflowEngine, WorkflowRun, WorkflowRunView,
    Workflows,
};

/// The parts of the database's schema that this crate owns.
pub const SCHEMA_COMPONENTS: &[lango_store::SchemaComponent] = &[schema::COMPONENT];
