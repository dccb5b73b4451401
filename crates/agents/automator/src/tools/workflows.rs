//! Implements `workflow_save`, `workflow_status`, `workflow_list` and `workflow_cancel`.

use lango_protocol::CallReport;
use lango_text::{code_span, make_lines_visible, plural};
use lango_tool::{CarriedText, Proposal, ProposedStep, SafetyLevel, Tool, ToolContext, ToolError};
use lango_workflow::Definition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::run_workflow::WorkflowText;
use crate::{SavedWorkflow, WorkflowRunView, Workflows};

/// Limits the runs of a list.
const MAX_LISTED_COUNT: u32 = 20;

pub(crate) struct SaveWorkflow {
    pub(crate) workflows: Workflows,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SaveArguments {
    /// The name, as in the YAML.
    name: String,
    /// The workflow in YAML: name, description, inputs, steps (id; agent and task, task, or tool and
    /// arguments; needs, when, `for_each`, retry, timeout, approve, `on_failure`), outputs. Templates:
    /// {{ inputs.x }}, {{ steps.a.output }}, {{ item }}.
    yaml: WorkflowText,
}

#[derive(Debug, Serialize)]
pub(crate) struct SaveOutput {
    name: String,
    steps: usize,
    saved: bool,
}

impl Tool for SaveWorkflow {
    type Arguments = SaveArguments;
    type Output = SaveOutput;
    const NAME: &'static str = "workflow_save";
    const DESCRIPTION: &'static str = "Checks a workflow and saves it under its name, so that it can be run by \
         name. A plan of several steps can be saved as one. Nothing runs.";
    const LEVEL: SafetyLevel = SafetyLevel::Moderate;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: SaveArguments,
        context: ToolContext,
    ) -> Result<SaveOutput, ToolError> {
        let parsed = Definition::parse(&arguments.yaml.0);
        let definition = parsed.map_err(|error| ToolError::Arguments(error.to_string()))?;
        if definition.name != arguments.name.trim() {
            let reason =
                format!("the yaml has the name {:?}; give the same twice", definition.name);
            return Err(ToolError::Arguments(reason));
        }
        let saved = self.workflows.save(&arguments.yaml.0, context.space.own()).await?;
        Ok(SaveOutput { name: saved.name, steps: definition.steps.len(), saved: true })
    }

    fn propose(&self, arguments: &SaveArguments) -> Option<Proposal> {
        let summary = make_lines_visible(&arguments.yaml.0, "Save the workflow: ");
        let text = arguments.yaml.0.as_str();
        let carried_text = Some(CarriedText { text: text.to_owned(), to: None });
        let step = ProposedStep::new([arguments.name.as_str(), text]);
        Some(Proposal { carried_text, ..Proposal::of_step(summary, step) })
    }

    fn describe(&self, _: &SaveArguments) -> Option<String> {
        Some("Saving a workflow".to_owned())
    }

    fn report(&self, _: &SaveArguments, output: &SaveOutput) -> Option<CallReport> {
        let steps = plural(output.steps, "step", "steps");
        let summary = format!("The workflow {} is saved, with {steps}.", code_span(&output.name));
        Some(CallReport::new(summary).data(output))
    }
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunIdArguments {
    /// The id of the run, or the name of the workflow for its newest run.
    run_id: String,
}

pub(crate) struct ShowRun {
    pub(crate) workflows: Workflows,
}

impl Tool for ShowRun {
    type Arguments = RunIdArguments;
    type Output = WorkflowRunView;
    const NAME: &'static str = "workflow_status";
    const DESCRIPTION: &'static str = "Shows a run of a workflow with the state of every step.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(
        &self,
        arguments: RunIdArguments,
        context: ToolContext,
    ) -> Result<WorkflowRunView, ToolError> {
        let run = self.workflows.find(&arguments.run_id, context.space.own()).await?;
        Ok(self.workflows.show(&run).await?)
    }

    fn report(&self, _: &RunIdArguments, run: &WorkflowRunView) -> Option<CallReport> {
        let summary =
            format!("The workflow {} ({}) is {}.", run.name, code_span(&run.id), run.state);
        Some(CallReport::new(summary).markdown(run.render_steps()).data(run))
    }
}

pub(crate) struct ListWorkflows {
    pub(crate) workflows: Workflows,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListArguments {}

#[derive(Debug, Serialize)]
pub(crate) struct ListOutput {
    /// The saved workflows.
    workflows: Vec<SavedWorkflow>,
    /// The newest runs.
    runs: Vec<RunLine>,
}

#[derive(Debug, Serialize)]
struct RunLine {
    run_id: String,
    name: String,
    state: &'static str,
}

impl Tool for ListWorkflows {
    type Arguments = ListArguments;
    type Output = ListOutput;
    const NAME: &'static str = "workflow_list";
    const DESCRIPTION: &'static str = "Lists the saved workflows and the newest runs.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(&self, _: ListArguments, context: ToolContext) -> Result<ListOutput, ToolError> {
        let space = context.space.own();
        let workflows = self.workflows.list_saved(space).await?;
        let runs = self.workflows.list(space, MAX_LISTED_COUNT).await?;
        let line = |run: crate::WorkflowRun| {
            let (run_id, name) = (run.id, run.name);
            RunLine { run_id, name, state: run.state.as_str() }
        };
        Ok(ListOutput { workflows, runs: runs.into_iter().map(line).collect() })
    }

    fn report(&self, _: &ListArguments, output: &ListOutput) -> Option<CallReport> {
        let workflows = plural(output.workflows.len(), "workflow", "workflows");
        let saved = output.workflows.iter().map(|one| {
            let name = code_span(&one.name);
            if one.description.is_empty() {
                format!("- {name}")
            } else {
                format!("- {name}: {}", one.description)
            }
        });
        let runs = output
            .runs
            .iter()
            .map(|run| format!("- {} ({}): {}", run.name, code_span(&run.run_id), run.state));
        let list = saved.chain(runs).collect::<Vec<_>>().join("\n");
        Some(CallReport::new(format!("You have {workflows}.")).markdown(list).data(output))
    }
}

pub(crate) struct CancelRun {
    pub(crate) workflows: Workflows,
}

#[derive(Debug, Serialize)]
pub(crate) struct CancelRunOutput {
    run_id: String,
    state: &'static str,
}

impl Tool for CancelRun {
    type Arguments = RunIdArguments;
    type Output = CancelRunOutput;
    const NAME: &'static str = "workflow_cancel";
    const DESCRIPTION: &'static str = "Stops a run of a workflow.";
    const LEVEL: SafetyLevel = SafetyLevel::Moderate;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: RunIdArguments,
        context: ToolContext,
    ) -> Result<CancelRunOutput, ToolError> {
        let run = self.workflows.find(&arguments.run_id, context.space.own()).await?;
        let is_cancelled = self.workflows.cancel(&run).await?;
        let state = if is_cancelled { "cancelled" } else { run.state.as_str() };
        Ok(CancelRunOutput { run_id: run.id, state })
    }

    fn report(&self, _: &RunIdArguments, output: &CancelRunOutput) -> Option<CallReport> {
        let id = code_span(&output.run_id);
        let summary = match output.state {
            "cancelled" => format!("The run {id} is cancelled."),
            state => format!("The run {id} had ended: it is {state}."),
        };
        Some(CallReport::new(summary).data(output))
    }
}
