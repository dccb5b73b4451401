//! Describes a workflow that was read and checked.

use std::time::Duration;

use serde_json::Value;

use crate::condition::Condition;
use crate::template::{Template, ValueTemplate};

/// Limits the bytes of a definition.
pub const MAX_DEFINITION_BYTES: usize = 512 * 1024;
/// Limits the steps of a definition.
pub const MAX_STEP_COUNT: usize = 1000;
/// Limits the items of a step with `for_each`.
pub const MAX_ITEM_COUNT: usize = 1000;

/// A workflow. Its steps exist, need no other in a circle, and use only what is there when they run.
#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// What it is given when it runs.
    pub inputs: Vec<Input>,
    /// Its steps, in the order of the text.
    pub steps: Vec<Step>,
    /// What it returns, by name.
    pub outputs: Vec<(String, ValueTemplate)>,
}

/// An input of a workflow.
#[derive(Debug, Clone, PartialEq)]
pub struct Input {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// What it may be.
    pub kind: InputType,
    /// Its value when none is given; without one it is required.
    pub default: Option<Value>,
    /// True if it must be given.
    pub required: bool,
}

/// The type of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InputType {
    /// A text.
    String,
    /// A number.
    Number,
    /// True or false.
    Boolean,
    /// A list of values.
    List,
}

impl InputType {
    pub(crate) const ALL: [Self; 4] = [Self::String, Self::Number, Self::Boolean, Self::List];

    /// Returns its name in a definition.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::String => "string",
            Self::Number => "number",
            Self::Boolean => "boolean",
            Self::List => "list",
        }
    }

    /// Tells whether a value has this type.
    pub fn fits(self, value: &Value) -> bool {
        match self {
            Self::String => value.is_string(),
            Self::Number => value.is_number(),
            Self::Boolean => value.is_boolean(),
            Self::List => value.is_array(),
        }
    }
}

/// A step of a workflow.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// Its id.
    pub id: String,
    /// What it does.
    pub action: Action,
    /// The steps that must have ended before it, by their position.
    pub needs: Vec<usize>,
    /// It is left out unless this holds.
    pub when: Option<Condition>,
    /// It is done once for each item of this list.
    pub for_each: Option<ValueTemplate>,
    /// How often it is tried.
    pub retry: Retry,
    /// How long one attempt may take.
    pub timeout: Option<Duration>,
    /// The question that a person must agree to before it is done.
    pub approve: Option<Template>,
    /// What happens if it fails.
    pub on_failure: FailureRule,
    /// True if it runs only because another step failed.
    pub is_handler: bool,
    /// The line of its definition.
    pub line: u32,
}

/// What a step does.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// The team, or one agent of it, does a task.
    Task {
        /// The agent; the team decides if absent.
        agent: Option<String>,
        /// What to do.
        task: Template,
    },
    /// One tool is called. No model is asked.
    Call {
        /// The tool.
        tool: String,
        /// Its arguments.
        arguments: ValueTemplate,
    },
    /// Nothing but to wait for a person.
    Approval,
}

/// What happens when a step fails for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureRule {
    /// Nothing more is started, and the run fails.
    Stop,
    /// The run goes on as if it had been done, without an output.
    Continue,
    /// Nothing more is started but this step, and the run fails.
    Run(usize),
}

/// How often a step is tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// The number of attempts, the first one included.
    pub attempts: u32,
    /// The wait before the second attempt; each further one is twice as long.
    pub backoff: Duration,
}

/// Limits the wait between two attempts.
const MAX_BACKOFF: Duration = Duration::from_hours(1);

impl Retry {
    /// Tries once.
    pub const ONCE: Self = Self { attempts: 1, backoff: Duration::from_secs(1) };

    /// Returns the wait after an attempt, which counts from 1.
    pub fn wait_after(&self, attempt: u32) -> Duration {
        let factor = 1_u32 << attempt.saturating_sub(1).min(16);
        self.backoff.saturating_mul(factor).min(MAX_BACKOFF)
    }
}

impl Definition {
    /// Returns the position of a step.
    pub fn find_step(&self, id: &str) -> Option<usize> {
        self.steps.iter().position(|step| step.id == id)
    }

    /// Returns the tools that its steps call, each once, in the order of the steps.
    pub fn list_tools(&self) -> Vec<&str> {
        let mut tools = Vec::new();
        for step in &self.steps {
            if let Action::Call { tool, .. } = &step.action
                && !tools.contains(&tool.as_str())
            {
                tools.push(tool.as_str());
            }
        }
        tools
    }
}

impl Step {
    /// Returns the steps whose results its templates use.
    pub fn list_used_steps(&self) -> Vec<&str> {
        let mut used = Vec::new();
        for reference in self.list_references() {
            if let Some(step) = reference.step()
                && !used.contains(&step)
            {
                used.push(step);
            }
        }
        used
    }

    /// Tells whether the arguments of its call use what other steps returned.
    pub fn passes_on_outputs(&self) -> bool {
        let Action::Call { arguments, .. } = &self.action else { return false };
        let used = arguments.list_references();
        used.iter().any(|used| used.step().is_some())
            || (self.has_foreign_items() && used.iter().any(|used| used.is_item()))
    }

    /// Tells whether its items come from other steps.
    pub fn has_foreign_items(&self) -> bool {
        let items = self.for_each.as_ref().map(ValueTemplate::list_references);
        items.is_some_and(|used| used.iter().any(|reference| reference.step().is_some()))
    }
}
