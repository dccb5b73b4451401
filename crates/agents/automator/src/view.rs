//! Shows jobs and runs to models, programs and people.

use lango_protocol::Timestamp;
use lango_store::WorkItem;
use lango_text::{code_span, to_one_line};
use serde::Serialize;

use crate::job::{Job, JobState};
use crate::{NotificationRoutes, SpendLimits};

/// Limits the characters of a task or a result in a list.
const MAX_LINE_CHARACTERS: usize = 100;

/// A job as it is shown.
#[derive(Debug, Clone, Serialize)]
pub struct JobView {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Its schedule in plain words.
    pub schedule: String,
    /// Its time zone.
    pub timezone: String,
    /// What it does.
    pub task: String,
    /// `run`, `remind` or `workflow`.
    pub action: &'static str,
    /// `active`, `paused` or `ended`.
    pub state: &'static str,
    /// Its next occurrences, in its zone.
    pub next: Vec<String>,
    /// What happens about missed occurrences.
    pub catch_up: &'static str,
    /// What happens while an earlier run has not ended.
    pub overlap: &'static str,
    /// The directory that it works in.
    pub workspace: String,
    /// Who is notified, if the job says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notify: Option<NotificationRoutes>,
    /// What each run may spend, if the job says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<SpendLimits>,
}

impl JobView {
    /// Shows a job with its next occurrences.
    pub fn of(job: &Job, now: Timestamp) -> Self {
        let is_active = job.state == JobState::Active;
        Self {
            id: job.id.clone(),
            name: job.name.clone(),
            schedule: job.schedule.describe(),
            timezone: job.schedule.zone().name().to_owned(),
            task: job.task.clone(),
            action: job.action.as_str(),
            state: job.state.as_str(),
            next: if is_active { job.list_next(now, 3) } else { Vec::new() },
            catch_up: job.catch_up.as_str(),
            overlap: job.overlap.as_str(),
            workspace: job.workspace.clone(),
            notify: job.notify.clone(),
            budget: job.budget,
        }
    }

    /// Renders a line of a list in Markdown.
    pub(crate) fn render_line(&self) -> String {
        let (name, id) = (to_one_line(&self.name, MAX_LINE_CHARACTERS), code_span(&self.id));
        let when = match (self.state, self.next.first()) {
            ("active", Some(next)) => format!("next {next}"),
            (state, _) => state.to_owned(),
        };
        format!("- {name} ({id}): {}, {}; {when}", self.schedule, self.timezone)
    }
}

/// A run of a job, or a background task, as it is shown.
#[derive(Debug, Clone, Serialize)]
pub struct RunView {
    /// Its id.
    pub id: String,
    /// The job that it belongs to.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub job: String,
    /// Its name.
    pub title: String,
    /// `waiting`, `started`, `done`, `failed`, `cancelled` or `skipped`.
    pub state: &'static str,
    /// The time for which it was meant.
    pub due: Timestamp,
    /// The time when it started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<Timestamp>,
    /// The time when it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ended: Option<Timestamp>,
    /// The conversation in which it ran.
    pub session: String,
    /// Its result, or the reason why there is none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub result: String,
    /// What it does now, where that was looked up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub progress: Option<String>,
}

impl RunView {
    /// Shows a piece of work.
    pub fn of(item: &WorkItem) -> Self {
        Self {
            id: item.id.clone(),
            job: item.parent.clone(),
            title: item.title.clone(),
            state: item.state.as_str(),
            due: item.due_at,
            started: item.started_at,
            ended: item.ended_at,
            session: item.session.to_string(),
            result: item.result.clone(),
            progress: None,
        }
    }

    /// Renders a line of a list in Markdown.
    pub(crate) fn render_line(&self) -> String {
        let due = self.due.to_string();
        let title = to_one_line(&self.title, MAX_LINE_CHARACTERS);
        let result = to_one_line(&self.result, MAX_LINE_CHARACTERS);
        let line = format!("- {} {title} ({}): {}", &due[..19], code_span(&self.id), self.state);
        if result.is_empty() { line } else { format!("{line}: {result}") }
    }
}
