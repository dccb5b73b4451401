//! Stores jobs: adds, lists, pauses, resumes and removes them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lango_protocol::{SessionId, Space, Timestamp};
use lango_schedule::{Schedule, Zone};
use lango_store::{Batch, Database, Journal, Row, Statement, StoreError, WorkFilter, WorkItem};
use lango_text::{to_one_line, truncate};
use lango_tool::SafetyLevel;
use parking_lot::Mutex;
use serde_json::{Map, Value};
use tokio::sync::Notify;
use uuid::Uuid;

use crate::job::{
    COLUMNS, CatchUp, Job, JobAction, JobState, Overlap, from_moment, read_jobs, to_moment,
    write_setting,
};
use crate::job_workflow::begin_workflow;
use crate::presence::{describe_absence, is_anyone_present};
use crate::scheduler::{build_work, remind};
use crate::workflow::KnownWorkflows;
use crate::{
    AutomatorError, AutomatorSettings, DueTime, LocalRunner, NotificationRoutes, Presence,
    ServiceKind, SpendLimits, schema,
};

/// The kind of the work of jobs.
pub const JOB_KIND: &str = "job";

/// Limits the characters of a task.
const MAX_TASK_CHARACTERS: usize = 8000;
/// Limits the characters of a name.
const MAX_NAME_CHARACTERS: usize = 60;
/// Limits how many jobs may lead to a job.
const MAX_DEPTH: u32 = 2;
/// Limits the jobs that the runs of one job create.
const MAX_CREATED_COUNT: usize = 5;

/// Describes a job that is to be added.
#[derive(Debug, Clone)]
pub struct NewJob {
    /// Its name; made of the task if absent.
    pub name: Option<String>,
    /// When it happens, as it was said.
    pub schedule: String,
    /// What to do.
    pub task: String,
    /// What happens at an occurrence.
    pub action: JobAction,
    /// The time zone; the one of the settings if absent.
    pub zone: Option<String>,
    /// What to do about missed occurrences; by default what happens once is caught up.
    pub catch_up: Option<CatchUp>,
    /// What to do while an earlier run has not ended.
    pub overlap: Option<Overlap>,
    /// Whose job it is.
    pub space: Space,
    /// The conversation in which it is created.
    pub session: Option<SessionId>,
    /// Who is notified; as the configuration says if absent.
    pub notify: Option<NotificationRoutes>,
    /// What each run may spend; as the configuration says if absent.
    pub budget: Option<SpendLimits>,
    /// The inputs of the workflow, where the task is one: "run the workflow NAME".
    pub inputs: Map<String, Value>,
    /// The definition of that workflow, where it was looked up before; else it is looked up.
    pub definition: Option<String>,
}

impl NewJob {
    /// Describes a job of the owner that does a task.
    pub fn new(schedule: &str, task: &str) -> Self {
        Self {
            name: None,
            schedule: schedule.to_owned(),
            task: task.to_owned(),
            action: JobAction::Run,
            zone: None,
            catch_up: None,
            overlap: None,
            space: Space::Owner,
            session: None,
            notify: None,
            budget: None,
            inputs: Map::new(),
            definition: None,
        }
    }
}

/// The jobs of a database. Clones share everything.
#[derive(Clone)]
pub struct JobBook {
    pub(crate) database: Database,
    pub(crate) journal: Journal,
    pub(crate) settings: Arc<AutomatorSettings>,
    /// Wakes the scheduler of this process.
    pub(crate) wake: Arc<Notify>,
    pub(crate) known_workflows: Arc<KnownWorkflows>,
    /// The client that this process is, if it runs due work without being a service. Locked to look.
    local: Arc<Mutex<Option<LocalRunner>>>,
}

impl JobBook {
    /// Opens the jobs of a database.
    pub async fn open(
        settings: AutomatorSettings,
        database: Database,
        journal: Journal,
    ) -> Result<Self, StoreError> {
        database.migrate(&schema::COMPONENT).await?;
        let (settings, wake) = (Arc::new(settings), Arc::default());
        let (known_workflows, local) = (Arc::default(), Arc::default());
        Ok(Self { database, journal, settings, wake, known_workflows, local })
    }

    /// Lets the service of this process look for due work at once.
    pub fn wake_service(&self) {
        self.wake.notify_one();
    }

    /// Notes how much harm the tools of the team can do, for questions about workflows, and the names of
    /// its agents.
    pub fn set_team(&self, levels: BTreeMap<String, SafetyLevel>, agents: BTreeSet<String>) {
        self.known_workflows.set_team(levels, agents);
    }

    /// Notes that this process runs due work as this client.
    pub fn set_local_runner(&self, local: LocalRunner) {
        *self.local.lock() = Some(local);
    }

    /// Returns the journal.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// Adds a job.
    pub async fn add(&self, new: NewJob) -> Result<Job, AutomatorError> {
        let job = self.build_job(new).await?;
        let insert = Statement::new(
            "INSERT INTO jobs (id, name, client, workspace, task, action, schedule, said, zone, \
             catch_up, overlap, state, depth, creator, session, created_at, next_due, notify, budget, \
             definition, inputs) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, \
             $15, $16, $17, $18, $19, $20, $21)",
        )
        .bind(job.id.as_str())
        .bind(job.name.as_str())
        .bind(job.space.as_stored())
        .bind(job.workspace.as_str())
        .bind(job.task.as_str())
        .bind(job.action.as_str())
        .bind(job.schedule.to_stored())
        .bind(job.said.as_str())
        .bind(job.schedule.zone().name())
        .bind(job.catch_up.as_str())
        .bind(job.overlap.as_str())
        .bind(job.state.as_str())
        .bind(job.depth)
        .bind(job.creator.as_str())
        .bind(job.session.as_ref().map_or("", SessionId::as_str))
        .bind(job.created_at.as_microseconds())
        .bind(job.next_due.map(Timestamp::as_microseconds))
        .bind(write_setting(job.notify.as_ref())?)
        .bind(write_setting(job.budget.as_ref())?)
        .bind(job.workflow.as_ref().map_or("", |workflow| workflow.definition.as_str()))
        .bind(write_setting(job.workflow.as_ref().map(|workflow| &workflow.inputs))?);
        self.database.write(insert.into()).await?;
        self.wake.notify_one();
        Ok(job)
    }

    async fn build_job(&self, new: NewJob) -> Result<Job, AutomatorError> {
        let task = new.task.trim().to_owned();
        if task.is_empty() {
            return Err(AutomatorError::Refused("say what should be done then".to_owned()));
        }
        if task.chars().count() > MAX_TASK_CHARACTERS {
            let reason = format!("the task is longer than {MAX_TASK_CHARACTERS} characters");
            return Err(AutomatorError::Refused(reason));
        }
        let zone = match new.zone.as_deref().map(str::trim).filter(|zone| !zone.is_empty()) {
            Some(zone) => Zone::find(zone)?,
            None => self.settings.zone.clone(),
        };
        let now = Timestamp::now();
        let schedule = Schedule::parse(&new.schedule, &zone, to_moment(now))?;
        let (depth, creator) = self.check_limits(&new).await?;
        if let Some(routes) = &new.notify {
            routes.check(&self.settings.channels)?;
        }
        let workflow = self.find_workflow_of(&new).await?;
        let action = if workflow.is_some() { JobAction::Workflow } else { new.action };
        let name = new.name.as_deref().map(str::trim).filter(|name| !name.is_empty());
        let name = to_one_line(name.unwrap_or(&task), MAX_NAME_CHARACTERS);
        let catch_up = if schedule.is_once() { CatchUp::Once } else { CatchUp::Skip };
        Ok(Job {
            id: make_id(&name),
            name,
            workspace: self.settings.workspace.clone(),
            task,
            action,
            next_due: schedule.next_after(to_moment(now)).map(from_moment),
            said: truncate(new.schedule.trim(), 200).to_owned(),
            schedule,
            catch_up: new.catch_up.unwrap_or(catch_up),
            overlap: new.overlap.unwrap_or(Overlap::Skip),
            state: JobState::Active,
            depth,
            creator,
            space: new.space,
            session: new.session,
            created_at: now,
            notify: new.notify,
            budget: new.budget.filter(|budget| !budget.is_empty()),
            workflow,
        })
    }

    /// Refuses a job that there is no room for. Returns how many jobs led to it, and the one whose run
    /// adds it.
    async fn check_limits(&self, new: &NewJob) -> Result<(u32, String), AutomatorError> {
        let jobs = self.list(Some(&new.space)).await?;
        let limit = self.settings.max_job_count;
        if jobs.len() >= limit as usize {
            let reason =
                format!("there are {limit} jobs already. Remove one: lango cron remove ID");
            return Err(AutomatorError::Refused(reason));
        }
        let Some(session) = &new.session else { return Ok((0, String::new())) };
        let Some(work) = self.journal.find_work_of_session(session).await? else {
            return Ok((0, String::new()));
        };
        let depth = work.depth.saturating_add(1);
        if depth > MAX_DEPTH {
            let reason = "a job that a job created may not create another one".to_owned();
            return Err(AutomatorError::Refused(reason));
        }
        let created = jobs.iter().filter(|job| job.creator == work.parent).count();
        if !work.parent.is_empty() && created >= MAX_CREATED_COUNT {
            let reason = format!(
                "the job {} has created {created} jobs, and may not create more",
                work.parent
            );
            return Err(AutomatorError::Refused(reason));
        }
        Ok((depth, work.parent))
    }

    /// Returns the jobs of an owner, or of all, the oldest first.
    pub async fn list(&self, space: Option<&Space>) -> Result<Vec<Job>, AutomatorError> {
        let statement = Statement::new(format!(
            "SELECT {COLUMNS} FROM jobs WHERE ($1 = '*' OR client = $1) ORDER BY created_at, id"
        ))
        .bind(space.map_or("*", Space::as_stored));
        read_jobs(&self.database.query(statement).await?)
    }

    /// Returns the directories in which work of the owner is to be done.
    pub async fn list_workspaces(&self) -> Result<Vec<String>, AutomatorError> {
        let statement = Statement::new(
            "SELECT workspace FROM jobs WHERE state = 'active' AND client = '' UNION \
             SELECT workspace FROM work WHERE state IN ('waiting', 'started') AND client = '' UNION \
             SELECT workspace FROM workflow_runs WHERE state = 'running' AND client = ''",
        );
        let rows = self.database.query(statement).await?;
        let workspace = |row: &Row| Ok(row.text(0)?.to_owned());
        rows.iter().map(workspace).collect()
    }

    /// Returns the presence of a process that runs the work of a workspace, or of all.
    pub fn presence(&self, kind: ServiceKind, workspace: Option<String>) -> Presence {
        Presence::new(self.database.clone(), kind, workspace)
    }

    /// Says what to do so that work runs, if no service runs that of this workspace now.
    pub async fn describe_absence(&self, due: DueTime) -> Result<Option<String>, StoreError> {
        let is_present = is_anyone_present(&self.database, &self.settings.workspace).await?;
        Ok((!is_present).then(|| describe_absence(*self.local.lock(), due)))
    }

    /// Returns the settings.
    pub fn settings(&self) -> &AutomatorSettings {
        &self.settings
    }

    /// Returns the one job that an id, a name or a description means.
    pub async fn find(&self, words: &str, space: &Space) -> Result<Job, AutomatorError> {
        let jobs = self.list(Some(space)).await?;
        crate::matching::find_job(&jobs, words)
    }

    /// Pauses a job.
    pub async fn pause(&self, job: &Job) -> Result<(), AutomatorError> {
        if job.state == JobState::Ended {
            return Err(AutomatorError::Refused(format!("the job {} has ended", job.id)));
        }
        let statement =
            Statement::new("UPDATE jobs SET state = 'paused' WHERE id = $1 AND state = 'active'")
                .bind(job.id.as_str());
        self.database.write(statement.into()).await?;
        Ok(())
    }

    /// Lets a paused job run again, from the next occurrence on.
    pub async fn resume(&self, job: &Job) -> Result<Job, AutomatorError> {
        let now = to_moment(Timestamp::now());
        let Some(next) = job.schedule.next_after(now).map(from_moment) else {
            let reason = format!("the job {} has no occurrence left", job.id);
            return Err(AutomatorError::Refused(reason));
        };
        let statement = Statement::new(
            "UPDATE jobs SET state = 'active', next_due = $2 WHERE id = $1 AND state = 'paused'",
        )
        .bind(job.id.as_str())
        .bind(next.as_microseconds());
        self.database.write(statement.into()).await?;
        self.wake.notify_one();
        Ok(Job { state: JobState::Active, next_due: Some(next), ..job.clone() })
    }

    /// Removes a job, and all its runs that wait. A run that has started goes on; its history stays.
    pub async fn remove(&self, job: &Job) -> Result<(), AutomatorError> {
        let remove = Statement::new("DELETE FROM jobs WHERE id = $1").bind(job.id.as_str());
        let [waiting, _] = Journal::build_cancellation_of_parent(&job.id);
        self.database.write(Batch::from(remove).with(waiting)).await?;
        Ok(())
    }

    /// Writes a run of a job that is due now, beside its schedule. Returns its id.
    pub async fn run_now(&self, job: &Job) -> Result<String, AutomatorError> {
        let now = Timestamp::now();
        let mut item = build_work(job, now, now)?;
        item.id = format!("{}@now-{}", job.id, &Uuid::new_v4().simple().to_string()[..12]);
        let mut start = Vec::new();
        match job.action {
            JobAction::Remind => remind(job, &mut item, now),
            JobAction::Workflow => start = begin_workflow(job, &mut item, now)?,
            JobAction::Run => {}
        }
        let mut batch = Batch::from(Journal::build_work_entry(&item));
        for statement in start {
            batch.push(statement);
        }
        self.database.write(batch).await?;
        self.wake.notify_one();
        Ok(item.id)
    }

    /// Returns the newest runs of a job, or of all jobs of an owner, the newest first.
    pub async fn list_runs(
        &self,
        job: Option<&str>,
        space: Option<&Space>,
        limit: u32,
    ) -> Result<Vec<WorkItem>, AutomatorError> {
        let filter = WorkFilter { kind: Some(JOB_KIND), parent: job, space, is_open: false };
        Ok(self.journal.list_work(filter, limit).await?)
    }
}

/// Makes an id that people can read: the letters and digits of the name, and four random characters.
fn make_id(name: &str) -> String {
    let letters = name.to_lowercase();
    let words: Vec<&str> = letters
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let mut slug = words.join("-");
    slug.truncate(24);
    let random = Uuid::new_v4().simple().to_string();
    let slug = slug.trim_matches('-');
    let slug = if slug.is_empty() { "job" } else { slug };
    format!("{slug}-{}", &random[..4])
}
