//! Implements `cron_pause`, `cron_resume` and `cron_remove`.

use lango_protocol::{CallReport, Timestamp};
use lango_text::{code_span, make_visible};
use lango_tool::{Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{JobBook, JobView};

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct JobArguments {
    /// The job, by its id, its name, or words of its task that fit one job only.
    id: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct JobOutput {
    id: String,
    name: String,
    state: &'static str,
    /// The next occurrences.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    next: Vec<String>,
}

impl JobOutput {
    fn report(&self, what: &str) -> CallReport {
        let name = make_visible(&self.name);
        let report =
            CallReport::new(format!("{what}: {name} ({}).", code_span(&self.id))).data(self);
        match self.next.first() {
            Some(next) => report.note(format!("Next: {next}")),
            None => report,
        }
    }
}

pub(crate) struct PauseJob {
    pub(crate) jobs: JobBook,
}

impl Tool for PauseJob {
    type Arguments = JobArguments;
    type Output = JobOutput;
    const NAME: &'static str = "cron_pause";
    const DESCRIPTION: &'static str = "Pauses a scheduled job until it is resumed.";
    const LEVEL: SafetyLevel = SafetyLevel::Moderate;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: JobArguments,
        context: ToolContext,
    ) -> Result<JobOutput, ToolError> {
        let job = self.jobs.find(&arguments.id, context.space.own()).await?;
        self.jobs.pause(&job).await?;
        Ok(JobOutput { id: job.id, name: job.name, state: "paused", next: Vec::new() })
    }

    fn describe(&self, _: &JobArguments) -> Option<String> {
        Some("Pausing a job".to_owned())
    }

    fn report(&self, _: &JobArguments, output: &JobOutput) -> Option<CallReport> {
        Some(output.report("Paused"))
    }
}

pub(crate) struct ResumeJob {
    pub(crate) jobs: JobBook,
}

impl Tool for ResumeJob {
    type Arguments = JobArguments;
    type Output = JobOutput;
    const NAME: &'static str = "cron_resume";
    const DESCRIPTION: &'static str = "Lets a paused scheduled job run again.";
    const LEVEL: SafetyLevel = SafetyLevel::Moderate;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: JobArguments,
        context: ToolContext,
    ) -> Result<JobOutput, ToolError> {
        let job = self.jobs.find(&arguments.id, context.space.own()).await?;
        let job = self.jobs.resume(&job).await?;
        let JobView { id, name, state, next, .. } = JobView::of(&job, Timestamp::now());
        Ok(JobOutput { id, name, state, next })
    }

    fn describe(&self, _: &JobArguments) -> Option<String> {
        Some("Resuming a job".to_owned())
    }

    fn report(&self, _: &JobArguments, output: &JobOutput) -> Option<CallReport> {
        Some(output.report("Resumed"))
    }
}

pub(crate) struct RemoveJob {
    pub(crate) jobs: JobBook,
}

impl Tool for RemoveJob {
    type Arguments = JobArguments;
    type Output = JobOutput;
    const NAME: &'static str = "cron_remove";
    const DESCRIPTION: &'static str = "Removes a scheduled job for good. Its history stays.";
    const LEVEL: SafetyLevel = SafetyLevel::Dangerous;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: JobArguments,
        context: ToolContext,
    ) -> Result<JobOutput, ToolError> {
        let job = self.jobs.find(&arguments.id, context.space.own()).await?;
        self.jobs.remove(&job).await?;
        Ok(JobOutput { id: job.id, name: job.name, state: "removed", next: Vec::new() })
    }

    fn propose(&self, arguments: &JobArguments) -> Option<Proposal> {
        let id = arguments.id.as_str();
        let summary = format!("Remove the job {} for good.", make_visible(&code_span(id)));
        Some(Proposal::of(summary, [id]))
    }

    fn describe(&self, _: &JobArguments) -> Option<String> {
        Some("Removing a job".to_owned())
    }

    fn report(&self, _: &JobArguments, output: &JobOutput) -> Option<CallReport> {
        Some(output.report("Removed"))
    }
}
