//! Implements `workflow_run`, which starts a run of a workflow.

use lango_protocol::{CallReport, Space};
use lango_text::{code_span, make_lines_visible, make_visible, to_one_line};
use lango_tool::{CarriedText, Proposal, ProposedStep, SafetyLevel, Tool, ToolContext, ToolError};
use lango_workflow::{Action, Definition, Step, check_inputs};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::workflow::ShownDefinition;
use crate::{AutomatorError, DueTime, JobBook, NewRun, Workflows};

/// Limits the characters of a line about a step.
const MAX_LINE_CHARACTERS: usize = 200;
/// Limits the steps that a question shows.
const MAX_SHOWN_COUNT: usize = 60;

pub(crate) struct RunWorkflow {
    pub(crate) jobs: JobBook,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct RunWorkflowArguments {
    /// The name of a saved workflow. Give this or `yaml`.
    #[serde(default)]
    name: Option<String>,
    /// The workflow itself, in YAML: name, inputs, steps (id; agent and task, task, or tool and
    /// arguments; needs, when, `for_each`, retry, timeout, approve, `on_failure`), outputs.
    #[serde(default)]
    yaml: Option<WorkflowText>,
    /// The inputs, by name.
    #[serde(default)]
    inputs: Option<Map<String, Value>>,
    #[serde(skip)]
    shown: ShownDefinition,
}

/// A workflow that can be run. Another one is refused before a person is asked about it.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(with = "String")]
pub(crate) struct WorkflowText(pub(crate) String);

impl<'de> Deserialize<'de> for WorkflowText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Definition::parse(&text).map_err(serde::de::Error::custom)?;
        Ok(Self(text))
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct RunWorkflowOutput {
    /// The id of the run.
    run_id: String,
    name: String,
    state: &'static str,
    /// What to do so that it runs, if nothing runs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

impl RunWorkflow {
    /// Returns the definition that a question shows, as far as this process knows it.
    fn find_text(&self, arguments: &RunWorkflowArguments, space: &Space) -> Option<String> {
        let known = &self.jobs.known_workflows;
        match (&arguments.yaml, &arguments.name) {
            (Some(text), None) => Some(text.0.clone()),
            (None, Some(name)) => arguments.shown.show(known, space, name),
            (Some(_), Some(_)) | (None, None) => None,
        }
    }

    /// Returns the definition that is run: the owner's own, if it is what the question showed.
    async fn load_text(
        &self,
        arguments: &RunWorkflowArguments,
        space: &Space,
    ) -> Result<String, AutomatorError> {
        match (&arguments.yaml, &arguments.name) {
            (Some(_), Some(_)) => {
                Err(AutomatorError::Refused("give either name or yaml, not both".to_owned()))
            }
            (Some(text), None) => Ok(text.0.clone()),
            (None, Some(name)) => {
                let saved = Workflows::new(self.jobs.clone()).find_saved(name, space).await?;
                arguments.shown.check(&saved)?;
                Ok(saved.text)
            }
            (None, None) => {
                Err(AutomatorError::Refused("give the name of a workflow, or its yaml".to_owned()))
            }
        }
    }

    fn summarise(&self, definition: &Definition, inputs: &Map<String, Value>) -> String {
        let mut lines = vec![describe_workflow(&self.jobs, definition)];
        if !inputs.is_empty() {
            let inputs = Value::Object(inputs.clone()).to_string();
            lines.push(make_lines_visible(&to_one_line(&inputs, 1000), "Inputs: "));
        }
        lines.push("It runs by itself, with the rights that you have now.".to_owned());
        lines.join("\n")
    }
}

/// Says why a question cannot show a workflow.
pub(crate) fn describe_unknown(name: &str) -> String {
    let name = make_visible(name);
    format!("the workflow {name} is not known in this process; list the workflows first")
}

/// Lists the steps of a workflow for a question, with how much harm they can do.
pub(crate) fn describe_workflow(jobs: &JobBook, definition: &Definition) -> String {
    let mut lines = vec![format!("Run the workflow {}:", definition.name)];
    let steps = definition.steps.iter().take(MAX_SHOWN_COUNT);
    lines.extend(steps.map(|step| format!("  {}", describe_step(jobs, step))));
    let more = definition.steps.len().saturating_sub(MAX_SHOWN_COUNT);
    if more > 0 {
        lines.push(format!("  … and {more} more steps"));
    }
    lines.join("\n")
}

fn describe_step(jobs: &JobBook, step: &Step) -> String {
    let action = match &step.action {
        Action::Task { agent: Some(agent), task } => format!("{agent}: {}", task.source()),
        Action::Task { agent: None, task } => task.source(),
        Action::Call { tool, .. } => {
            let level = match jobs.known_workflows.level(tool) {
                Some(SafetyLevel::Dangerous) => "dangerous; asks each time",
                Some(SafetyLevel::Moderate) => "changes Lango's own data",
                Some(SafetyLevel::Safe) => "only reads",
                None => "not a tool of this team now",
            };
            format!("tool {tool} ({level})")
        }
        Action::Approval => "asks a person".to_owned(),
    };
    let each = if step.for_each.is_some() { ", for each item" } else { "" };
    make_visible(&to_one_line(&format!("{}: {action}{each}", step.id), MAX_LINE_CHARACTERS))
}

impl Tool for RunWorkflow {
    type Arguments = RunWorkflowArguments;
    type Output = RunWorkflowOutput;
    const NAME: &'static str = "workflow_run";
    const DESCRIPTION: &'static str = "Starts a workflow: a saved one by its name, or one given in YAML. Returns the id of the run at \
         once; workflow_status shows how far it is.";
    const LEVEL: SafetyLevel = SafetyLevel::Dangerous;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: RunWorkflowArguments,
        context: ToolContext,
    ) -> Result<RunWorkflowOutput, ToolError> {
        let workflows = Workflows::new(self.jobs.clone());
        let space = context.space.own().clone();
        let definition = self.load_text(&arguments, &space).await?;
        let inputs = arguments.inputs.unwrap_or_default();
        let session = Some(context.session.clone());
        let run = workflows.start(NewRun { definition, inputs, space, session }).await?;
        let notice =
            self.jobs.describe_absence(DueTime::Now).await.map_err(AutomatorError::from)?;
        let (run_id, name) = (run.id, run.name);
        Ok(RunWorkflowOutput { run_id, name, state: run.state.as_str(), notice })
    }

    fn propose_in(&self, arguments: &RunWorkflowArguments, space: &Space) -> Option<Proposal> {
        let text = self.find_text(arguments, space);
        let inputs = arguments.inputs.clone().unwrap_or_default();
        let parsed = text.as_deref().and_then(|text| Definition::parse(text).ok());
        let (Some(text), Some(definition)) = (text, parsed) else {
            let name = make_visible(arguments.name.as_deref().unwrap_or("without a name"));
            let not_shown = Some(describe_unknown(&name));
            return Some(Proposal {
                not_shown,
                ..Proposal::plain(format!("Run the workflow {name}"))
            });
        };
        let summary = self.summarise(&definition, &inputs);
        let given = Value::Object(inputs.clone()).to_string();
        let step = ProposedStep::new([text.as_str(), given.as_str()]);
        let carried_text = Some(CarriedText { text: format!("{text}\n{given}"), to: None });
        let is_long = definition.steps.len() > MAX_SHOWN_COUNT;
        let always_ask = check_inputs(&definition, &inputs).err().map(|error| error.to_string());
        let always_ask =
            always_ask.or_else(|| is_long.then(|| "it has more steps than are shown".to_owned()));
        Some(Proposal { carried_text, always_ask, ..Proposal::of_step(summary, step) })
    }

    fn describe(&self, _: &RunWorkflowArguments) -> Option<String> {
        Some("Starting a workflow".to_owned())
    }

    fn report(&self, _: &RunWorkflowArguments, output: &RunWorkflowOutput) -> Option<CallReport> {
        let id = code_span(&output.run_id);
        let summary = format!("The workflow {} is running as {id}.", output.name);
        let report = CallReport::new(summary).data(output);
        Some(match &output.notice {
            Some(notice) => report.note(notice.clone()),
            None => report.note("You will be told when it has ended."),
        })
    }
}
