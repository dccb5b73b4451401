//! Implements `cron_add`, which adds a job.

use jiff::{SignedDuration, Timestamp as Moment};
use lango_protocol::{CallReport, EventBody, Space, Timestamp};
use lango_schedule::{Schedule, Zone};
use lango_text::{code_span, make_lines_visible};
use lango_tool::{CarriedText, Proposal, ProposedStep, SafetyLevel, Tool, ToolContext, ToolError};
use lango_workflow::Definition;
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::job::{CatchUp, Job, JobAction, Overlap};
use crate::job_workflow::find_workflow_name;
use crate::reminder::{choose_action, reminder_text};
use crate::tools::run_workflow::{describe_unknown, describe_workflow};
use crate::workflow::ShownDefinition;
use crate::{AutomatorError, DueTime, JobBook, JobView, NewJob, Workflows};

pub(crate) struct AddJob {
    pub(crate) jobs: JobBook,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AddArguments {
    /// What to call the job; made of the task when absent.
    #[serde(default)]
    name: Option<String>,
    /// When: a cron expression of five fields, "every 10m", "every weekday at 9:00", "tomorrow at
    /// noon", or "at 2026-12-01T09:00".
    schedule: ScheduleText,
    /// What to do then, complete in itself: it runs without this conversation.
    task: String,
    /// Time zone of the schedule, such as `Europe/Berlin`; the user's own when absent.
    #[serde(default)]
    timezone: Option<String>,
    /// What to do about missed runs: leave them out, or run once.
    #[serde(default)]
    catch_up: Option<CatchUp>,
    /// What to do while the run before has not ended: leave it out, or run afterwards.
    #[serde(default)]
    overlap: Option<Overlap>,
    #[serde(skip)]
    shown: ShownDefinition,
}

/// A schedule that can be read. Another one is refused before a person is asked about it.
#[derive(Debug, Clone, JsonSchema)]
#[schemars(with = "String")]
struct ScheduleText(String);

impl<'de> Deserialize<'de> for ScheduleText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Schedule::parse(&text, &Zone::of_machine(), Moment::now())
            .map_err(serde::de::Error::custom)?;
        Ok(Self(text))
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct AddOutput {
    #[serde(flatten)]
    job: JobView,
    /// What to do so that it runs, if nothing runs it.
    #[serde(skip_serializing_if = "Option::is_none")]
    notice: Option<String>,
}

impl AddJob {
    /// Returns the words of the user in this turn.
    async fn user_words(&self, context: &ToolContext) -> Result<Option<String>, AutomatorError> {
        let journal = self.jobs.journal();
        let events = journal.read_turn_events(&context.session, context.turn).await?;
        Ok(events.into_iter().find_map(|event| match event.body {
            EventBody::UserMessage { text, .. } => Some(text),
            _ => None,
        }))
    }

    /// Describes a schedule for a question, with nothing in it that changes while the question waits.
    fn describe_schedule(&self, arguments: &AddArguments) -> Option<String> {
        let zone = match &arguments.timezone {
            Some(name) => Zone::find(name).ok()?,
            None => self.jobs.settings.zone.clone(),
        };
        let (now, later) = (Moment::now(), Moment::now() + SignedDuration::from_mins(2));
        let at = |moment| Schedule::parse(&arguments.schedule.0, &zone, moment).ok();
        let described = at(now)?.describe();
        let is_fixed = at(later).is_some_and(|schedule| schedule.describe() == described);
        is_fixed.then(|| format!("{described}, {zone}"))
    }
}

impl Tool for AddJob {
    type Arguments = AddArguments;
    type Output = AddOutput;
    const NAME: &'static str = "cron_add";
    const DESCRIPTION: &'static str = "Adds a recurring or timed job: does a task, or reminds the user, on a \
         schedule. Returns its id and the next three times.";
    const LEVEL: SafetyLevel = SafetyLevel::Dangerous;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: AddArguments,
        context: ToolContext,
    ) -> Result<AddOutput, ToolError> {
        let words = self.user_words(&context).await?;
        let action = choose_action(&arguments.task, words.as_deref());
        let task = match action {
            JobAction::Remind => reminder_text(&arguments.task).to_owned(),
            JobAction::Run | JobAction::Workflow => arguments.task,
        };
        let space = context.space.own();
        let definition = match find_workflow_name(&task).filter(|_| action != JobAction::Remind) {
            Some(name) => {
                let saved = Workflows::new(self.jobs.clone()).find_saved(name, space).await?;
                arguments.shown.check(&saved)?;
                Some(saved.text)
            }
            None => None,
        };
        let job: Job = self
            .jobs
            .add(NewJob {
                name: arguments.name,
                action,
                zone: arguments.timezone,
                catch_up: arguments.catch_up,
                overlap: arguments.overlap,
                space: space.clone(),
                definition,
                session: Some(context.session.clone()),
                ..NewJob::new(&arguments.schedule.0, &task)
            })
            .await?;
        let notice =
            self.jobs.describe_absence(DueTime::Later).await.map_err(AutomatorError::from)?;
        Ok(AddOutput { job: JobView::of(&job, Timestamp::now()), notice })
    }

    fn propose_in(&self, arguments: &AddArguments, space: &Space) -> Option<Proposal> {
        let schedule = &arguments.schedule.0;
        let when = match self.describe_schedule(arguments) {
            Some(described) => format!("{schedule} ({described})"),
            None => schedule.clone(),
        };
        let mut summary = format!(
            "{}\n{}\n",
            make_lines_visible(&when, "When: "),
            make_lines_visible(&arguments.task, "Task: "),
        );
        // The job keeps the workflow as it is now.
        let known = &self.jobs.known_workflows;
        let name = find_workflow_name(&arguments.task);
        let workflow = name.and_then(|name| arguments.shown.show(known, space, name));
        let definition = workflow.as_deref().and_then(|text| Definition::parse(text).ok());
        if let Some(definition) = &definition {
            summary.push_str(&describe_workflow(&self.jobs, definition));
            summary.push('\n');
        }
        summary.push_str("It runs by itself, without you, with the rights that you have now.");
        let not_shown = name.filter(|_| definition.is_none()).map(describe_unknown);
        let workflow = workflow.unwrap_or_default();
        let step = ProposedStep::new([schedule.as_str(), &arguments.task, &workflow]);
        let text = format!("{}\n{workflow}", arguments.task);
        let carried_text = Some(CarriedText { text, to: None });
        Some(Proposal { carried_text, not_shown, ..Proposal::of_step(summary, step) })
    }

    fn describe(&self, _: &AddArguments) -> Option<String> {
        Some("Adding a job".to_owned())
    }

    fn report(&self, _: &AddArguments, output: &AddOutput) -> Option<CallReport> {
        let job = &output.job;
        let purpose = match job.action {
            "remind" => format!("I'll remind you: {}", job.task),
            _ => format!("The job {} is set up", code_span(&job.id)),
        };
        let summary = format!("{purpose} — {} ({}).", job.schedule, job.timezone);
        let next: Vec<String> = job.next.iter().map(|time| format!("- {time}")).collect();
        let mut report =
            CallReport::new(summary).markdown(format!("Next:\n\n{}", next.join("\n"))).data(output);
        if job.action == "remind" {
            report = report.note(format!("The job is {}.", code_span(&job.id)));
        }
        if let Some(notice) = &output.notice {
            report = report.note(notice.clone());
        }
        Some(report)
    }
}
