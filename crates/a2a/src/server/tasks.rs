//! Implements the operations on tasks for all bindings. Each operation first checks who owns the
//! task: for other callers it does not exist.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use a2a::{Task, TaskState};
use lango_protocol::{Caller, SessionId};
use lango_runtime::{Runtime, Teams};
use lango_store::{Journal, StoreError};
use parking_lot::Mutex as SyncMutex;
use tokio::sync::{MutexGuard, OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::incoming::digest_parts;
use super::live::{CallerReply, LiveState, LiveTask, LiveTasks, LoadedTask};
use super::notifier::Notifier;
use super::projection::Projection;
use super::settings::Settings;
use super::stream::{StreamEnd, Subscription};
use super::tables::{TaskRow, TaskTables};
use crate::wire::error::ProtocolError;

/// The tasks of all callers. The bindings and the background work share them.
pub(crate) struct Tasks {
    pub(super) tables: TaskTables,
    pub(super) journal: Journal,
    pub(super) teams: Arc<dyn Teams>,
    pub(super) settings: Settings,
    pub(super) live: LiveTasks,
    pub(super) notifier: Option<Notifier>,
    /// The background work, until the endpoint is closed.
    pub(super) background: TaskTracker,
    pub(super) closing: CancellationToken,
    /// The number of turns that each caller may still begin. The lock is held for one look-up.
    turn_permits: SyncMutex<HashMap<Caller, Arc<Semaphore>>>,
}

impl Tasks {
    pub(crate) fn new(
        tables: TaskTables,
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
            turn_permits: SyncMutex::default(),
        }
    }

    /// Returns the agents that a caller reaches.
    pub(super) fn find_runtime(&self, caller: &Caller) -> Result<Runtime, ProtocolError> {
        self.teams.team(caller).ok_or(ProtocolError::AccessDenied)
    }

    /// Acquires the permit for one more turn of this caller.
    pub(super) fn acquire_turn_permit(
        &self,
        caller: &Caller,
    ) -> Result<OwnedSemaphorePermit, ProtocolError> {
        let limit = self.settings.turns_of_caller;
        let semaphore = {
            let mut turn_permits = self.turn_permits.lock();
            Arc::clone(
                turn_permits
                    .entry(caller.clone())
                    .or_insert_with(|| Arc::new(Semaphore::new(limit))),
            )
        };
        semaphore.try_acquire_owned().map_err(|_| {
            ProtocolError::TooMany(format!(
                "{limit} tasks are at work already; wait for one to end"
            ))
        })
    }

    /// Returns a task that belongs to this caller and was revealed to it.
    pub(super) async fn find_task_row(
        &self,
        caller: &Caller,
        id: &str,
    ) -> Result<TaskRow, ProtocolError> {
        let unknown = || ProtocolError::TaskNotFound(id.chars().take(80).collect());
        // Our ids have one form; other ids need no query.
        uuid::Uuid::try_parse(id).map_err(|_| unknown())?;
        let row = self.tables.find_task(id).await.map_err(internal_error)?;
        row.filter(|row| row.caller == *caller && row.revealed).ok_or_else(unknown)
    }

    /// Locks the state of a task, and reads it from the database if nothing keeps it up to date.
    pub(super) async fn open<'a>(
        &self,
        live: &'a LiveTask,
        row: &TaskRow,
    ) -> Result<MutexGuard<'a, LiveState>, ProtocolError> {
        let mut state = live.state.lock().await;
        if state.needs_reading() {
            // Read again: it may have changed while this call waited for the lock.
            let row = self.tables.find_task(&row.id).await.map_err(internal_error)?;
            let loaded = self
                .load_task(row.ok_or(ProtocolError::Internal)?)
                .await
                .map_err(internal_error)?;
            live.stage.send_replace(loaded.stage());
            state.loaded = Some(loaded);
        }
        Ok(state)
    }

    /// Folds a task from the journal.
    pub(super) async fn load_task(&self, row: TaskRow) -> Result<LoadedTask, StoreError> {
        let mut projection = Projection::new(&row.id, &row.context, row.created_at, row.revealed);
        let turns = self.tables.list_turns(&row.id).await?;
        let mut seen = 0;
        let mut finished = true;
        for turn in &turns {
            projection.begin_turn(turn.position, &turn.message_id, turn.at);
            let events = self.journal.read_turn_events(&row.session, turn.turn).await?;
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
            projection.force_end(how, at);
        }
        Ok(LoadedTask { row, turns, projection, seen, finished })
    }

    /// Returns a task.
    pub(crate) async fn get_task(
        &self,
        caller: &Caller,
        id: &str,
        history: Option<i32>,
    ) -> Result<Task, ProtocolError> {
        check_history(history)?;
        let row = self.find_task_row(caller, id).await?;
        Ok(trim_task(self.load_current_task(&row).await?, history, true))
    }

    pub(super) async fn load_current_task(&self, row: &TaskRow) -> Result<Task, ProtocolError> {
        let live = self.live.find_or_add(&row.id);
        let state = self.open(&live, row).await?;
        state.snapshot_task().ok_or(ProtocolError::Internal)
    }

    /// Follows a task from now on.
    pub(crate) async fn subscribe_to_task(
        self: &Arc<Self>,
        caller: &Caller,
        id: &str,
    ) -> Result<Subscription, ProtocolError> {
        let row = self.find_task_row(caller, id).await?;
        let live = self.live.find_or_add(id);
        let subscription = {
            let mut state = self.open(&live, &row).await?;
            let task = state.snapshot_task().ok_or(ProtocolError::Internal)?;
            if task.status.state.is_terminal() {
                let message = format!("the task {id:?} has ended; GetTask has its result");
                return Err(ProtocolError::UnsupportedOperation(message));
            }
            let updates = self.add_follower(&mut state)?;
            Subscription::new(Some(CallerReply::Task(task)), Some(updates), StreamEnd::Ended)
        };
        self.follow_other_process(caller, &live).await?;
        Ok(subscription.keep_task(live, self.closing.clone()))
    }

    pub(super) fn add_follower(
        &self,
        state: &mut LiveState,
    ) -> Result<tokio::sync::mpsc::Receiver<super::live::TaskUpdate>, ProtocolError> {
        state.follow(self.settings.followers_of_task).ok_or_else(|| self.too_many_followers_error())
    }

    /// Checks that one more stream may follow a task.
    pub(super) fn check_follower_limit(&self, state: &mut LiveState) -> Result<(), ProtocolError> {
        let has_follower_capacity = state.has_follower_capacity(self.settings.followers_of_task);
        if has_follower_capacity { Ok(()) } else { Err(self.too_many_followers_error()) }
    }

    fn too_many_followers_error(&self) -> ProtocolError {
        let limit = self.settings.followers_of_task;
        ProtocolError::TooMany(format!("{limit} streams follow this task already"))
    }

    /// Runs work to its end, even if the caller disconnects: what is stored and what is published
    /// must not differ.
    pub(super) async fn run_to_completion<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, ProtocolError>> + Send + 'static,
    ) -> Result<T, ProtocolError> {
        self.background.spawn(work).await.map_err(internal_error)?
    }

    /// Stops a task.
    pub(crate) async fn cancel_task(
        self: &Arc<Self>,
        caller: &Caller,
        id: &str,
    ) -> Result<Task, ProtocolError> {
        let (tasks, caller, id) = (Arc::clone(self), caller.clone(), id.to_owned());
        self.run_to_completion(async move { tasks.stop_task(&caller, &id).await }).await
    }

    /// Cancels every unfinished task of a caller.
    pub(crate) async fn cancel_tasks_of(
        self: &Arc<Self>,
        caller: &Caller,
    ) -> Result<(), StoreError> {
        let unfinished = self.tables.list_unfinished().await?;
        for row in unfinished.into_iter().filter(|row| row.caller == *caller) {
            let (tasks, id) = (Arc::clone(self), row.id.clone());
            let stopped = self.run_to_completion(async move {
                let live = tasks.live.find_or_add(&row.id);
                let mut state = tasks.open(&live, &row).await?;
                if let Some(stop) = &state.stop {
                    stop.cancel();
                }
                tasks.force_end(&live, &mut state, super::tables::ForcedEnd::Canceled).await
            });
            if let Err(error) = stopped.await {
                tracing::warn!(task = %id, %error, "a task of a removed client was not cancelled");
            }
        }
        Ok(())
    }

    async fn stop_task(self: &Arc<Self>, caller: &Caller, id: &str) -> Result<Task, ProtocolError> {
        let row = self.find_task_row(caller, id).await?;
        let live = self.live.find_or_add(id);
        let running = {
            let mut state = self.open(&live, &row).await?;
            let loaded = state.loaded.as_ref().ok_or(ProtocolError::Internal)?;
            if loaded.projection.state().is_terminal() {
                return Err(ProtocolError::TaskNotCancelable(id.to_owned()));
            }
            if loaded.finished {
                self.force_end(&live, &mut state, super::tables::ForcedEnd::Canceled).await?;
                return state.snapshot_task().ok_or(ProtocolError::Internal);
            }
            (loaded.turns.last().map(|turn| turn.turn), state.stop.clone())
        };
        if let (Some(turn), stop) = running {
            if let Some(stop) = stop {
                stop.cancel();
            } else {
                self.follow_other_process(caller, &live).await?;
                let team = self.find_runtime(caller)?;
                team.cancel_turn(&row.session, turn).await.map_err(internal_error)?;
            }
            // Another process sees the end of the task, and stops its turn.
            let is_here = self.find_runtime(caller)?.is_running_here(turn);
            let wait = if is_here { self.settings.cancel_wait } else { Duration::ZERO };
            if tokio::time::timeout(wait, live.wait_for_end()).await.is_err() {
                // The turn stops as soon as it can; the caller need not wait for that.
                let mut state = self.open(&live, &row).await?;
                self.force_end(&live, &mut state, super::tables::ForcedEnd::Canceled).await?;
            }
        }
        let state = self.open(&live, &row).await?;
        match state.snapshot_task() {
            Some(task) if task.status.state == TaskState::Canceled => Ok(task),
            Some(_) => Err(ProtocolError::TaskNotCancelable(id.to_owned())),
            None => Err(ProtocolError::Internal),
        }
    }
}

/// Returns the session of a context. Contexts of other callers never lead to it.
pub(super) fn session_for_context(
    caller: &Caller,
    context: &str,
) -> Result<SessionId, ProtocolError> {
    let name = digest_parts([caller.as_str().as_bytes(), context.as_bytes()]);
    format!("a2a-{}", &name[..40]).parse().map_err(internal_error)
}

/// Logs the cause and hides it: the caller only learns that something went wrong on this side.
pub(super) fn internal_error(error: impl std::fmt::Display) -> ProtocolError {
    tracing::error!(%error, "a request could not be served");
    ProtocolError::Internal
}

pub(super) fn check_history(length: Option<i32>) -> Result<(), ProtocolError> {
    match length {
        Some(length) if length < 0 => {
            Err(ProtocolError::invalid_field("historyLength", "must not be negative"))
        }
        _ => Ok(()),
    }
}

/// Reduces a task to what was asked for.
pub(super) fn trim_task(mut task: Task, history: Option<i32>, artifacts: bool) -> Task {
    if let (Some(limit), Some(messages)) = (history, &mut task.history) {
        let limit = usize::try_from(limit).unwrap_or(0);
        messages.drain(..messages.len().saturating_sub(limit));
    }
    task.history = task.history.filter(|messages| !messages.is_empty());
    if !artifacts {
        task.artifacts = None;
    }
    task
}
