//! Workflows: their definitions, their runs, and the engine that advances runs.
//!
//! A run is a row with a revision, and its steps are rows. A process that looks at a run reads all of it, decides
//! what follows, and writes that in one commit that fails if the revision has changed: of several
//! processes one succeeds. The work of a step is written in the commit that starts the step, under an id
//! made of run, step, item and attempt, so that no step starts twice.

mod advance;
mod collect;
mod definitions;
mod engine;
mod finish;
mod known;
mod run;
mod runs;
mod step;
mod step_end;
mod step_values;
mod step_work;
mod view;

pub use definitions::SavedWorkflow;
pub use engine::{Lookup, TeamDirectory, WorkflowEngine};
pub(crate) use known::{KnownWorkflows, ShownDefinition};
pub use run::{RunState, WorkflowRun};
pub(crate) use runs::build_start;
pub use runs::{NewRun, Workflows};
pub use step::StepState;
pub use view::{StepView, WorkflowRunView};

/// The kind of the work of steps.
pub const WORKFLOW_KIND: &str = "workflow";
/// The kind of the entry that tells the end of a run.
pub const WORKFLOW_RUN_KIND: &str = "workflow_run";
/// The kind of the entry that tells that a run waits for a person.
pub const WORKFLOW_QUESTION_KIND: &str = "workflow_question";
