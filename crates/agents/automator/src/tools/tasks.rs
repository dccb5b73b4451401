//! Implements `bg_status`, `bg_list`, `bg_result` and `bg_cancel`.

use lango_protocol::CallReport;
use lango_text::{code_span, plural};
use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{BackgroundTasks, RunView};

/// Limits the tasks of a list.
const MAX_LISTED_COUNT: u32 = 50;

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TaskArguments {
    /// The task.
    id: String,
}

pub(crate) struct ShowTask {
    pub(crate) tasks: BackgroundTasks,
}

impl Tool for ShowTask {
    type Arguments = TaskArguments;
    type Output = RunView;
    const NAME: &'static str = "bg_status";
    const DESCRIPTION: &'static str = "Shows how far a background task is.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(
        &self,
        arguments: TaskArguments,
        context: ToolContext,
    ) -> Result<RunView, ToolError> {
        let item = self.tasks.find(&arguments.id, context.space.own()).await?;
        Ok(RunView { result: String::new(), ..self.tasks.show(&item).await? })
    }

    fn report(&self, _: &TaskArguments, task: &RunView) -> Option<CallReport> {
        let id = code_span(&task.id);
        let report = CallReport::new(format!("The task {id} is {}.", task.state)).data(task);
        Some(match &task.progress {
            Some(progress) => report.note(progress.clone()),
            None => report,
        })
    }
}

pub(crate) struct ShowResult {
    pub(crate) tasks: BackgroundTasks,
}

impl Tool for ShowResult {
    type Arguments = TaskArguments;
    type Output = RunView;
    const NAME: &'static str = "bg_result";
    const DESCRIPTION: &'static str = "Shows the result of a finished background task.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(
        &self,
        arguments: TaskArguments,
        context: ToolContext,
    ) -> Result<RunView, ToolError> {
        let item = self.tasks.find(&arguments.id, context.space.own()).await?;
        if !item.state.has_ended() {
            let reason = format!("the task {} has no result yet: it is {}", item.id, item.state);
            return Err(ToolError::Failed(reason));
        }
        Ok(RunView::of(&item))
    }

    fn report(&self, _: &TaskArguments, task: &RunView) -> Option<CallReport> {
        let id = code_span(&task.id);
        let report = CallReport::new(format!("The task {id} is {}.", task.state)).data(task);
        Some(if task.result.is_empty() { report } else { report.quoted(task.result.as_str()) })
    }
}

pub(crate) struct ListTasks {
    pub(crate) tasks: BackgroundTasks,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListArguments {}

#[derive(Debug, Serialize)]
pub(crate) struct ListOutput {
    tasks: Vec<RunView>,
}

impl Tool for ListTasks {
    type Arguments = ListArguments;
    type Output = ListOutput;
    const NAME: &'static str = "bg_list";
    const DESCRIPTION: &'static str = "Lists the background tasks, the newest first.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(&self, _: ListArguments, context: ToolContext) -> Result<ListOutput, ToolError> {
        let tasks = self.tasks.list(context.space.own(), MAX_LISTED_COUNT).await?;
        Ok(ListOutput { tasks: tasks.iter().map(RunView::of).collect() })
    }

    fn report(&self, _: &ListArguments, output: &ListOutput) -> Option<CallReport> {
        if output.tasks.is_empty() {
            return Some(CallReport::new("There are no background tasks.").data(output));
        }
        let lines: Vec<String> = output.tasks.iter().map(RunView::render_line).collect();
        let count = plural(output.tasks.len(), "background task", "background tasks");
        Some(CallReport::new(format!("You have {count}:")).markdown(lines.join("\n")).data(output))
    }
}

pub(crate) struct CancelTask {
    pub(crate) tasks: BackgroundTasks,
}

#[derive(Debug, Serialize)]
pub(crate) struct CancelOutput {
    id: String,
    state: &'static str,
}

impl Tool for CancelTask {
    type Arguments = TaskArguments;
    type Output = CancelOutput;
    const NAME: &'static str = "bg_cancel";
    const DESCRIPTION: &'static str = "Stops a background task.";
    const LEVEL: SafetyLevel = SafetyLevel::Moderate;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: TaskArguments,
        context: ToolContext,
    ) -> Result<CancelOutput, ToolError> {
        let item = self.tasks.find(&arguments.id, context.space.own()).await?;
        let is_cancelled = self.tasks.cancel(&item).await?;
        let state = if is_cancelled { "cancelled" } else { item.state.as_str() };
        Ok(CancelOutput { id: item.id, state })
    }

    fn report(&self, _: &TaskArguments, output: &CancelOutput) -> Option<CallReport> {
        let id = code_span(&output.id);
        let summary = match output.state {
            "cancelled" => format!("The task {id} is being stopped."),
            state => format!("The task {id} had ended: it is {state}."),
        };
        Some(CallReport::new(summary).data(output))
    }
}
