//! Background tasks: work without a schedule, whose result goes to the conversation that asked for it.

use lango_protocol::{SessionId, Space, Timestamp, TurnId};
use lango_store::{Batch, Journal, WorkFilter, WorkItem, WorkState};
use lango_text::to_one_line;
use uuid::Uuid;

use crate::progress::describe_progress;
use crate::scheduler::build_request;
use crate::{AutomatorError, JobBook, RunView};

/// The kind of background tasks.
pub const BACKGROUND_KIND: &str = "background";

/// Limits how many pieces of work may lead to a task.
const MAX_DEPTH: u32 = 3;
/// Limits the characters of a task.
const MAX_TASK_CHARACTERS: usize = 8000;
/// Limits the characters of a title.
const MAX_TITLE_CHARACTERS: usize = 60;
/// Limits the tasks that are looked through for those that have ended.
const MAX_LISTED_COUNT: u32 = 1000;

/// Describes a task that is to be done in the background.
#[derive(Debug, Clone)]
pub struct NewTask {
    /// What to do.
    pub task: String,
    /// The agent that should do it; the team decides if absent.
    pub agent: Option<String>,
    /// Whose task it is.
    pub space: Space,
    /// The conversation that asked for it.
    pub session: Option<SessionId>,
}

/// The background tasks of a database. Clones share everything.
#[derive(Clone)]
pub struct BackgroundTasks {
    jobs: JobBook,
}

impl BackgroundTasks {
    /// Returns the tasks beside the jobs of a database.
    pub fn new(jobs: JobBook) -> Self {
        Self { jobs }
    }

    fn journal(&self) -> &Journal {
        &self.jobs.journal
    }

    /// Submits a task.
    pub async fn submit(&self, new: NewTask) -> Result<WorkItem, AutomatorError> {
        let item = self.build_item(new).await?;
        self.jobs.database.write(Batch::from(Journal::build_work_entry(&item))).await?;
        self.jobs.wake.notify_one();
        Ok(item)
    }

    /// Refuses a task that there is no room for.
    async fn check_count(&self, space: &Space) -> Result<(), AutomatorError> {
        let filter = WorkFilter {
            kind: Some(BACKGROUND_KIND),
            space: Some(space),
            is_open: true,
            ..WorkFilter::default()
        };
        let limit = self.jobs.settings.max_task_count;
        if self.journal().list_work(filter, limit).await?.len() >= limit as usize {
            let reason = format!("{limit} background tasks have not ended. Wait, or cancel one");
            return Err(AutomatorError::Refused(reason));
        }
        Ok(())
    }

    async fn build_item(&self, new: NewTask) -> Result<WorkItem, AutomatorError> {
        let task = new.task.trim();
        if task.is_empty() || task.chars().count() > MAX_TASK_CHARACTERS {
            let reason = format!("say what to do, in at most {MAX_TASK_CHARACTERS} characters");
            return Err(AutomatorError::Refused(reason));
        }
        if let Some(agent) = &new.agent {
            self.jobs.known_workflows.check_agent(agent)?;
        }
        self.check_count(&new.space).await?;
        let depth = match &new.session {
            None => 0,
            Some(session) => {
                let work = self.journal().find_work_of_session(session).await?;
                work.map_or(0, |work| work.depth.saturating_add(1))
            }
        };
        if depth > MAX_DEPTH {
            let reason = "work that other work started may not start more".to_owned();
            return Err(AutomatorError::Refused(reason));
        }
        let (id, session) = make_id()?;
        let turn = TurnId::generate();
        let words = match &new.agent {
            Some(agent) => format!("{task}\n\n(This is a task for the agent {agent}.)"),
            None => task.to_owned(),
        };
        let now = Timestamp::now();
        Ok(WorkItem {
            request: build_request(&session, turn, &words, &new.space)?,
            id,
            kind: BACKGROUND_KIND.to_owned(),
            parent: String::new(),
            space: new.space,
            workspace: self.jobs.settings.workspace.clone(),
            depth,
            session,
            turn,
            title: to_one_line(task, MAX_TITLE_CHARACTERS),
            state: WorkState::Waiting,
            due_at: now,
            created_at: now,
            started_at: None,
            ended_at: None,
            result: String::new(),
            reply_to: new.session,
            is_cancelled: false,
        })
    }

    /// Does a task anew that failed or was stopped: as a new one, told where the first one was asked for.
    pub async fn retry(&self, item: &WorkItem) -> Result<WorkItem, AutomatorError> {
        if !matches!(item.state, WorkState::Failed | WorkState::Cancelled) {
            let reason =
                format!("{} neither failed nor was stopped: it is {}", item.id, item.state);
            return Err(AutomatorError::Refused(reason));
        }
        self.check_count(&item.space).await?;
        let (id, session) = make_id()?;
        let now = Timestamp::now();
        let again = WorkItem {
            id,
            session,
            turn: TurnId::generate(),
            workspace: item.workspace.clone(),
            state: WorkState::Waiting,
            due_at: now,
            created_at: now,
            started_at: None,
            ended_at: None,
            result: String::new(),
            is_cancelled: false,
            ..item.clone()
        };
        self.jobs.database.write(Batch::from(Journal::build_work_entry(&again))).await?;
        self.jobs.wake.notify_one();
        Ok(again)
    }

    /// Removes a task that has ended.
    pub async fn remove(&self, item: &WorkItem) -> Result<(), AutomatorError> {
        if self.journal().remove_ended_work(&item.id).await? {
            return Ok(());
        }
        let id = &item.id;
        let reason = format!("{id} has not ended. Stop it first: lango bg cancel {id}");
        Err(AutomatorError::Refused(reason))
    }

    /// Returns the newest tasks of an owner that have ended, the newest first.
    pub async fn list_ended(
        &self,
        space: &Space,
        limit: u32,
    ) -> Result<Vec<WorkItem>, AutomatorError> {
        let mut items = self.list(space, MAX_LISTED_COUNT).await?;
        items.retain(|item| item.state.has_ended());
        items.truncate(limit as usize);
        Ok(items)
    }

    /// Shows a task with how far it is.
    pub async fn show(&self, item: &WorkItem) -> Result<RunView, AutomatorError> {
        let progress = describe_progress(self.journal(), item).await?;
        Ok(RunView { progress, ..RunView::of(item) })
    }

    /// Returns the newest tasks of an owner, the newest first.
    pub async fn list(&self, space: &Space, limit: u32) -> Result<Vec<WorkItem>, AutomatorError> {
        let filter =
            WorkFilter { kind: Some(BACKGROUND_KIND), space: Some(space), ..WorkFilter::default() };
        Ok(self.journal().list_work(filter, limit).await?)
    }

    /// Returns the one task that an id, a part of it or words of the task mean.
    pub async fn find(&self, words: &str, space: &Space) -> Result<WorkItem, AutomatorError> {
        let given = words.trim().trim_matches(['`', '"', '\'', '#']).to_lowercase();
        let items = self.list(space, 200).await?;
        let unknown = || AutomatorError::UnknownTask(words.trim().to_owned());
        if let Some(item) = items.iter().find(|item| item.id == given) {
            return Ok(item.clone());
        }
        let meant: Vec<&WorkItem> = items
            .iter()
            .filter(|item| {
                !given.is_empty()
                    && (item.id.contains(&given) || item.title.to_lowercase().contains(&given))
            })
            .collect();
        match meant.as_slice() {
            [item] => Ok((*item).clone()),
            // "that task" means the only one.
            [] if items.len() == 1 => items.into_iter().next().ok_or_else(unknown),
            _ => Err(unknown()),
        }
    }

    /// Cancels a task. Returns false if it had ended.
    pub async fn cancel(&self, item: &WorkItem) -> Result<bool, AutomatorError> {
        let is_cancelled = self.journal().cancel_work(&item.id).await?;
        self.jobs.wake.notify_one();
        Ok(is_cancelled)
    }
}

/// Makes the id of a task, which is also the name of its session.
fn make_id() -> Result<(String, SessionId), AutomatorError> {
    let id = format!("bg-{}", &Uuid::new_v4().simple().to_string()[..6]);
    let session = id
        .parse()
        .map_err(|error: lango_protocol::InvalidName| AutomatorError::Refused(error.to_string()))?;
    Ok((id, session))
}
