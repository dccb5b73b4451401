//! Implements `cron_list` and `cron_history`.

use lango_protocol::{CallReport, Timestamp};
use lango_text::plural;
use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{JobBook, JobView, RunView};

/// Limits the jobs of a list.
const MAX_LISTED_COUNT: usize = 100;

pub(crate) struct ListJobs {
    pub(crate) jobs: JobBook,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListArguments {}

#[derive(Debug, Serialize)]
pub(crate) struct ListOutput {
    jobs: Vec<JobView>,
    #[serde(skip_serializing_if = "is_zero")]
    left_out: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

impl Tool for ListJobs {
    type Arguments = ListArguments;
    type Output = ListOutput;
    const NAME: &'static str = "cron_list";
    const DESCRIPTION: &'static str = "Lists the scheduled jobs and reminders.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(&self, _: ListArguments, context: ToolContext) -> Result<ListOutput, ToolError> {
        let jobs = self.jobs.list(Some(context.space.own())).await?;
        let now = Timestamp::now();
        let left_out = jobs.len().saturating_sub(MAX_LISTED_COUNT);
        let jobs = jobs.iter().take(MAX_LISTED_COUNT).map(|job| JobView::of(job, now)).collect();
        Ok(ListOutput { jobs, left_out })
    }

    fn describe(&self, _: &ListArguments) -> Option<String> {
        Some("Listing the jobs".to_owned())
    }

    fn report(&self, _: &ListArguments, output: &ListOutput) -> Option<CallReport> {
        let count = output.jobs.len() + output.left_out;
        if count == 0 {
            return Some(CallReport::new("There are no jobs and no reminders.").data(output));
        }
        let lines: Vec<String> = output.jobs.iter().map(JobView::render_line).collect();
        let summary = format!("You have {}:", plural(count, "job", "jobs"));
        Some(CallReport::new(summary).markdown(lines.join("\n")).data(output))
    }
}

pub(crate) struct ShowHistory {
    pub(crate) jobs: JobBook,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct HistoryArguments {
    /// The job, by its id or its name; all when absent.
    #[serde(default)]
    id: Option<String>,
    /// At most so many.
    #[serde(default = "default_limit")]
    limit: u32,
}

fn default_limit() -> u32 {
    20
}

#[derive(Debug, Serialize)]
pub(crate) struct HistoryOutput {
    runs: Vec<RunView>,
}

impl Tool for ShowHistory {
    type Arguments = HistoryArguments;
    type Output = HistoryOutput;
    const NAME: &'static str = "cron_history";
    const DESCRIPTION: &'static str =
        "Shows past runs of scheduled jobs with their results, the newest first.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(
        &self,
        arguments: HistoryArguments,
        context: ToolContext,
    ) -> Result<HistoryOutput, ToolError> {
        let space = context.space.own();
        let job = match arguments.id.as_deref().map(str::trim).filter(|id| !id.is_empty()) {
            Some(words) => Some(self.jobs.find(words, space).await?.id),
            None => None,
        };
        let limit = arguments.limit.clamp(1, 100);
        let runs = self.jobs.list_runs(job.as_deref(), Some(space), limit).await?;
        Ok(HistoryOutput { runs: runs.iter().map(RunView::of).collect() })
    }

    fn describe(&self, _: &HistoryArguments) -> Option<String> {
        Some("Looking up past runs".to_owned())
    }

    fn report(&self, _: &HistoryArguments, output: &HistoryOutput) -> Option<CallReport> {
        if output.runs.is_empty() {
            return Some(CallReport::new("No job has run yet.").data(output));
        }
        let lines: Vec<String> = output.runs.iter().map(RunView::render_line).collect();
        let summary = format!("The last {}:", plural(output.runs.len(), "run", "runs"));
        Some(CallReport::new(summary).markdown(lines.join("\n")).data(output))
    }
}
