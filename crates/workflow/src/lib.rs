//! Workflows as people write them: YAML becomes a typed definition that was checked as a whole, so that
//! what cannot run is refused before anything runs. It does no I/O; who runs the steps, and where their
//! state is stored, is not its business.

mod check;
mod condition;
mod definition;
mod duration;
mod error;
mod graph;
mod inputs;
mod node;
mod read;
mod read_step;
mod template;

pub use condition::Condition;
pub use definition::{
    Action, Definition, FailureRule, Input, InputType, MAX_DEFINITION_BYTES, MAX_ITEM_COUNT,
    MAX_STEP_COUNT, Retry, Step,
};
pub use error::{Problem, WorkflowError};
pub use graph::{draw_svg, draw_text};
pub use inputs::check_inputs;
pub use template::{RenderedMessage, StepResult, Template, ValueTemplate, Values};
