//! Implements `bg_submit`, which starts a task in the background.

use lango_protocol::CallReport;
use lango_text::{code_span, make_lines_visible};
use lango_tool::{CarriedText, Proposal, ProposedStep, SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{AutomatorError, BackgroundTasks, DueTime, JobBook, NewTask};

pub(crate) struct SubmitTask {
    pub(crate) tasks: BackgroundTasks,
    pub(crate) jobs: JobBook,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SubmitArguments {
    /// What to do, complete in itself: it runs without this conversation.
    task: String,
    /// The agent that should do it.
    #[serde(default)]
    agent: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct SubmitOutput {
    id: String,
    state: &'static str,
    /// What to do so that it runs, if nothing runs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

impl Tool for SubmitTask {
    type Arguments = SubmitArguments;
    type Output = SubmitOutput;
    const NAME: &'static str = "bg_submit";
    const DESCRIPTION: &'static str =
        "Hands a task to the team to be done in the background. Returns the task's id at once.";
    const LEVEL: SafetyLevel = SafetyLevel::Moderate;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: SubmitArguments,
        context: ToolContext,
    ) -> Result<SubmitOutput, ToolError> {
        let new = NewTask {
            task: arguments.task,
            agent: arguments.agent,
            space: context.space.own().clone(),
            session: Some(context.session.clone()),
        };
        let item = self.tasks.submit(new).await?;
        let notice =
            self.jobs.describe_absence(DueTime::Now).await.map_err(AutomatorError::from)?;
        Ok(SubmitOutput { id: item.id, state: item.state.as_str(), notice })
    }

    fn propose(&self, arguments: &SubmitArguments) -> Option<Proposal> {
        let summary = make_lines_visible(&arguments.task, "Do in the background: ");
        let carried_text = Some(CarriedText { text: arguments.task.clone(), to: None });
        let step = ProposedStep::new([arguments.task.as_str()]);
        Some(Proposal { carried_text, ..Proposal::of_step(summary, step) })
    }

    fn describe(&self, _: &SubmitArguments) -> Option<String> {
        Some("Starting a background task".to_owned())
    }

    fn report(&self, _: &SubmitArguments, output: &SubmitOutput) -> Option<CallReport> {
        let id = code_span(&output.id);
        let report = CallReport::new(format!("The task {id} is in the background.")).data(output);
        Some(match &output.notice {
            Some(notice) => report.note(notice.clone()),
            None => report.note("You will be told when it is done."),
        })
    }
}
