//! Holds the tasks that run or that clients look at: the fold of each, and its followers.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use a2a::{Message, StreamResponse, Task};
use parking_lot::Mutex as SyncMutex;
use tokio::sync::{Mutex, mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::projection::Projection;
use super::tables::{TaskRow, TurnRow};

/// Limits how many updates a follower may lag behind before it is dropped. It can subscribe again.
const MAX_LAG_COUNT: usize = 1024;

/// One update of a stream, shared by all followers.
pub(crate) type TaskUpdate = Arc<StreamResponse>;

/// The final reply to a caller.
#[derive(Debug, Clone)]
pub(crate) enum CallerReply {
    Task(Task),
    Message(Message),
}

/// The progress of a task, for requests that only wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum TaskStage {
    Running,
    /// Nothing happens until the owner or the caller acts.
    Interrupted,
    Ended,
}

/// A task in memory. There is at most one for each task id at a time.
pub(crate) struct LiveTask {
    /// The lock is held while an event is applied, stored and sent to every follower, so that all
    /// of them see the same order and a snapshot matches the updates after it.
    pub(super) state: Mutex<LiveState>,
    pub(super) stage: watch::Sender<TaskStage>,
}

/// The state that the lock protects.
#[derive(Default)]
pub(crate) struct LiveState {
    /// None until it was read from the database.
    pub(super) loaded: Option<LoadedTask>,
    followers: Vec<mpsc::Sender<TaskUpdate>>,
    /// The position of the turn that is being followed.
    pub(super) driven: Option<u32>,
    /// Stops that turn if it runs in this process.
    pub(super) stop: Option<CancellationToken>,
}

pub(crate) struct LoadedTask {
    pub(super) row: TaskRow,
    pub(super) turns: Vec<TurnRow>,
    pub(super) projection: Projection,
    /// The position of the last event that was applied.
    pub(super) seen: u64,
    /// True if the newest turn is over.
    pub(super) finished: bool,
}

impl LiveTask {
    fn new() -> Self {
        Self { state: Mutex::default(), stage: watch::Sender::new(TaskStage::Running) }
    }

    /// Waits until nothing more happens by itself.
    pub(crate) async fn wait_until_settled(&self) {
        // The sender is part of `self`, so it cannot have been dropped.
        let _ = self.stage.subscribe().wait_for(|stage| *stage > TaskStage::Running).await;
    }

    /// Waits for the end.
    pub(crate) async fn wait_for_end(&self) {
        // As above.
        let _ = self.stage.subscribe().wait_for(|stage| *stage == TaskStage::Ended).await;
    }

    /// Returns the current reply for the caller.
    pub(crate) async fn current_reply(&self) -> Option<CallerReply> {
        let state = self.state.lock().await;
        let projection = &state.loaded.as_ref()?.projection;
        Some(match projection.message() {
            Some(message) => CallerReply::Message(message.clone()),
            None => CallerReply::Task(projection.snapshot_task()),
        })
    }
}

impl LiveState {
    /// Tells whether the state may be outdated: it was never read, or nothing keeps it up to date
    /// and no follower depends on it.
    pub(super) fn needs_reading(&self) -> bool {
        match &self.loaded {
            None => true,
            Some(loaded) => {
                self.driven.is_none()
                    && self.followers.is_empty()
                    && loaded.stage() != TaskStage::Ended
            }
        }
    }

    /// Returns a snapshot of the task.
    pub(super) fn snapshot_task(&self) -> Option<Task> {
        self.loaded.as_ref().map(|loaded| loaded.projection.snapshot_task())
    }

    /// Sends updates to all followers. A follower that is too slow is dropped: its stream ends.
    pub(super) fn publish(&mut self, updates: Vec<StreamResponse>) {
        for update in updates {
            let update = Arc::new(update);
            self.followers.retain(|follower| follower.try_send(Arc::clone(&update)).is_ok());
        }
    }

    /// Tells whether one more follower is allowed.
    pub(super) fn has_follower_capacity(&mut self, limit: usize) -> bool {
        self.followers.retain(|follower| !follower.is_closed());
        self.followers.len() < limit
    }

    /// Adds a follower that gets all updates from now on. Returns none if there are too many
    /// followers.
    pub(super) fn follow(&mut self, limit: usize) -> Option<mpsc::Receiver<TaskUpdate>> {
        if !self.has_follower_capacity(limit) {
            return None;
        }
        let (sender, receiver) = mpsc::channel(MAX_LAG_COUNT);
        self.followers.push(sender);
        Some(receiver)
    }

    /// Drops all followers, because no more updates come.
    pub(super) fn drop_followers(&mut self) {
        self.followers.clear();
    }
}

impl LoadedTask {
    pub(super) fn stage(&self) -> TaskStage {
        let projection = &self.projection;
        if projection.message().is_some() || projection.state().is_terminal() {
            TaskStage::Ended
        } else if projection.is_interrupted() {
            TaskStage::Interrupted
        } else {
            TaskStage::Running
        }
    }
}

/// The tasks in memory, by id. The lock is held for one look-up.
#[derive(Default)]
pub(crate) struct LiveTasks {
    tasks: SyncMutex<HashMap<String, Weak<LiveTask>>>,
}

impl LiveTasks {
    /// Returns the task with this id. It may not be loaded yet.
    pub(crate) fn find_or_add(&self, id: &str) -> Arc<LiveTask> {
        let mut tasks = self.tasks.lock();
        if let Some(task) = tasks.get(id).and_then(Weak::upgrade) {
            return task;
        }
        // Tasks that are no longer in use are removed when new ones are added.
        if tasks.len() >= 64 && tasks.len().is_power_of_two() {
            tasks.retain(|_, task| task.strong_count() > 0);
        }
        let task = Arc::new(LiveTask::new());
        tasks.insert(id.to_owned(), Arc::downgrade(&task));
        task
    }
}
