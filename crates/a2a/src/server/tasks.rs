//! What callers can do with tasks, whatever binding they use. Every way in asks first whose a task
//! is: to anybody else it does not exist.

use std::collections::HashMap;
use std::sync::{Arc, Mutex as SyncMutex, PoisonError};

use a2a::{Task, TaskState};
use lango_protocol::{Caller, SessionId};
use lango_runtime::{Runtime, Teams};
use lango_store::{Journal, StoreError};
use tokio::sync::{MutexGuard, OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::incoming::digest;
use super::live::{LiveState, LiveTask, LiveTasks, Loaded, Reply};
use super::projection::Projection;
use super::push::Notifier;
use super::settings::Settings;
use super::stream::{Subscription, Until};
use super::tables::{Tables, TaskRow};
use crate::wire::error::ProtocolError;

/// The tasks of all callers. Shared by the bindings and by what runs in the background.
pub(crate) struct Tasks {
    pub(super) tables: Tables,
    pub(super) journal: Journal,
    pub(super) teams: Arc<dyn Teams>,
    pub(super) settings: Settings,
    pub(super) live: LiveTasks,
    pub(super) notifier: Option<Notifier>,
    /// What runs in the background, until the door is closed.
    pub(super) background: TaskTracker,
    pub(super) closing: CancellationToken,
    /// How many turns each caller may still begin. A lock that is held for one look-up.
    room: SyncMutex<HashMap<Caller, Arc<Semaphore>>>,
}

impl Tasks {
    pub(crate) fn new(
        tables: Tables,
        journal: Journal,
        teams: Arc<dyn Teams>,
        settings: Settings,
        notifier: Option<Notifier>,
    ) -> Self {
        Self {
            tables,
            journal,
            teams,
            settings,
            live: LiveTasks::default(),
            notifier,
            background: TaskTracker::new(),
            closing: CancellationToken::new(),
            room: SyncMutex::default(),
        }
    }

    /// The agents that a caller reaches.
    pub(super) fn team(&self, caller: &Caller) -> Result<Runtime, ProtocolError> {
        self.teams.team(caller).ok_or(ProtocolError::NotLetIn)
    }

    /// Room for one more turn of this caller.
    pub(super) fn room_for(&self, caller: &Caller) -> Result<OwnedSemaphorePermit, ProtocolError> {
        let most = self.settings.turns_of_caller;
        let semaphore = {
            let mut room = self.room.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(room.entry(caller.clone()).or_insert_with(|| Arc::new(Semaphore::new(most))))
        };
        semaphore.try_acquire_owned().map_err(|_| {
            ProtocolError::TooMany(format!("{most} tasks are at work already; wait for one to end"))
        })
    }

    /// A task of this caller that it knows about.
    pub(super) async fn row(&self, caller: &Caller, id: &str) -> Result<TaskRow, ProtocolError> {
        let unknown = || ProtocolError::TaskNotFound(id.chars().take(80).collect());
        // Our ids are of one form; nothing else is worth a look.
        uuid::Uuid::try_parse(id).map_err(|_| unknown())?;
        let row = self.tables.task(id).await.map_err(internal)?;
        row.filter(|row| row.caller == *caller && row.revealed).ok_or_else(unknown)
    }

    /// What is in memory of a task, read from the database where nobody keeps it up to date.
    pub(super) async fn open<'a>(
        &self,
        live: &'a LiveTask,
        row: &TaskRow,
    ) -> Result<MutexGuard<'a, LiveState>, ProtocolError> {
        let mut state = live.state.lock().await;
        if state.needs_reading() {
            // Read again: it may have changed while the lock was waited for.
            let row = self.tables.task(&row.id).await.map_err(internal)?;
            let loaded = self.load(row.ok_or(ProtocolError::Internal)?).await.map_err(internal)?;
            live.stage.send_replace(loaded.stage());
            state.loaded = Some(loaded);
        }
        Ok(state)
    }

    /// Folds a task from the journal.
    pub(super) async fn load(&self, row: TaskRow) -> Result<Loaded, StoreError> {
        let mut projection = Projection::new(&row.id, &row.context, row.created_at, row.revealed);
        let turns = self.tables.turns(&row.id).await?;
        let mut seen = 0;
        let mut finished = true;
        for turn in &turns {
            projection.begin_turn(turn.position, &turn.message_id, turn.at);
            let events = self.journal.turn_events(&row.session, turn.turn).await?;
            finished = false;
            for event in &events {
                if !row.ended_before(event) {
                    projection.apply(event);
                }
                seen = seen.max(event.seq);
                finished |= matches!(event.body, lango_protocol::EventBody::TurnFinished(_));
            }
        }
        if let Some((how, at)) = row.ended {
            projection.end(how, at);
        }
        Ok(Loaded { row, turns, projection, seen, finished })
    }

    /// A task.
    pub(crate) async fn get(
        &self,
        caller: &Caller,
        id: &str,
        history: Option<i32>,
    ) -> Result<Task, ProtocolError> {
        check_history(history)?;
        let row = self.row(caller, id).await?;
        Ok(shaped(self.task_of(&row).await?, history, true))
    }

    pub(super) async fn task_of(&self, row: &TaskRow) -> Result<Task, ProtocolError> {
        let live = self.live.task(&row.id);
        let state = self.open(&live, row).await?;
        state.task().ok_or(ProtocolError::Internal)
    }

    /// Follows a task from now on.
    pub(crate) async fn subscribe(
        self: &Arc<Self>,
        caller: &Caller,
        id: &str,
    ) -> Result<Subscription, ProtocolError> {
        let row = self.row(caller, id).await?;
        let live = self.live.task(id);
        let subscription = {
            let mut state = self.open(&live, &row).await?;
            let task = state.task().ok_or(ProtocolError::Internal)?;
            if task.status.state.is_terminal() {
                let message = format!("the task {id:?} has ended; GetTask has its result");
                return Err(ProtocolError::UnsupportedOperation(message));
            }
            let updates = self.follower(&mut state)?;
            Subscription::new(Some(Reply::Task(task)), Some(updates), Until::Ended)
        };
        self.follow_elsewhere(caller, &live).await?;
        Ok(subscription.keeping(live, self.closing.clone()))
    }

    pub(super) fn follower(
        &self,
        state: &mut LiveState,
    ) -> Result<tokio::sync::mpsc::Receiver<super::live::Update>, ProtocolError> {
        state.follow(self.settings.followers_of_task).ok_or_else(|| self.too_many_followers())
    }

    /// Whether one more stream may follow a task.
    pub(super) fn room_for_follower(&self, state: &mut LiveState) -> Result<(), ProtocolError> {
        let has_room = state.has_room(self.settings.followers_of_task);
        if has_room { Ok(()) } else { Err(self.too_many_followers()) }
    }

    fn too_many_followers(&self) -> ProtocolError {
        let most = self.settings.followers_of_task;
        ProtocolError::TooMany(format!("{most} streams follow this task already"))
    }

    /// Does something to its end, even when the caller hangs up in the middle: what is stored and
    /// what is told must not differ.
    pub(super) async fn unbroken<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, ProtocolError>> + Send + 'static,
    ) -> Result<T, ProtocolError> {
        self.background.spawn(work).await.map_err(|_| ProtocolError::Internal)?
    }

    /// Stops a task.
    pub(crate) async fn cancel(
        self: &Arc<Self>,
        caller: &Caller,
        id: &str,
    ) -> Result<Task, ProtocolError> {
        let (tasks, caller, id) = (Arc::clone(self), caller.clone(), id.to_owned());
        self.unbroken(async move { tasks.stop(&caller, &id).await }).await
    }

    async fn stop(self: &Arc<Self>, caller: &Caller, id: &str) -> Result<Task, ProtocolError> {
        let row = self.row(caller, id).await?;
        let live = self.live.task(id);
        let running = {
            let mut state = self.open(&live, &row).await?;
            let loaded = state.loaded.as_ref().ok_or(ProtocolError::Internal)?;
            if loaded.projection.state().is_terminal() {
                return Err(ProtocolError::TaskNotCancelable(id.to_owned()));
            }
            if loaded.finished {
                self.end(&live, &mut state, super::tables::EndedBeside::Canceled).await?;
                return state.task().ok_or(ProtocolError::Internal);
            }
            (loaded.turns.last().map(|turn| turn.turn), state.stop.clone())
        };
        if let (Some(turn), stop) = running {
            if let Some(stop) = stop {
                stop.cancel();
            } else {
                self.follow_elsewhere(caller, &live).await?;
                let team = self.team(caller)?;
                team.cancel_turn(&row.session, turn).await.map_err(|_| ProtocolError::Internal)?;
            }
            if tokio::time::timeout(self.settings.cancel_wait, live.ended()).await.is_err() {
                // It is stopped as soon as it gets to it; the caller need not wait for that.
                let mut state = self.open(&live, &row).await?;
                self.end(&live, &mut state, super::tables::EndedBeside::Canceled).await?;
            }
        }
        let state = self.open(&live, &row).await?;
        match state.task() {
            Some(task) if task.status.state == TaskState::Canceled => Ok(task),
            Some(_) => Err(ProtocolError::TaskNotCancelable(id.to_owned())),
            None => Err(ProtocolError::Internal),
        }
    }
}

/// The session of a context: nobody else's context leads to it.
pub(super) fn session_of(caller: &Caller, context: &str) -> Result<SessionId, ProtocolError> {
    let name = digest([caller.as_str().as_bytes(), context.as_bytes()]);
    format!("a2a-{}", &name[..40]).parse().map_err(|_| ProtocolError::Internal)
}

/// The caller learns that something is wrong here, and not what.
pub(super) fn internal(_: StoreError) -> ProtocolError {
    ProtocolError::Internal
}

pub(super) fn check_history(length: Option<i32>) -> Result<(), ProtocolError> {
    match length {
        Some(length) if length < 0 => {
            Err(ProtocolError::invalid("historyLength", "must not be negative"))
        }
        _ => Ok(()),
    }
}

/// As much of a task as was asked for.
pub(super) fn shaped(mut task: Task, history: Option<i32>, artifacts: bool) -> Task {
    if let (Some(most), Some(messages)) = (history, &mut task.history) {
        let most = usize::try_from(most).unwrap_or(0);
        messages.drain(..messages.len().saturating_sub(most));
    }
    task.history = task.history.filter(|messages| !messages.is_empty());
    if !artifacts {
        task.artifacts = None;
    }
    task
}
