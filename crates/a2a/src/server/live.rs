//! Tasks that somebody looks at or that run: the fold of each, and everybody who follows it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex as SyncMutex, PoisonError, Weak};

use a2a::{Message, StreamResponse, Task};
use tokio::sync::{Mutex, mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::projection::Projection;
use super::tables::{TaskRow, TurnRow};

/// Updates that a follower may lag behind before it is dropped. It can subscribe again.
const LAG: usize = 1024;

/// One update of a stream, shared by all who follow.
pub(crate) type Update = Arc<StreamResponse>;

/// What a caller gets in the end.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    Task(Task),
    Message(Message),
}

/// How far a task is, for those who only wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    Running,
    /// Nothing comes unless somebody acts.
    Interrupted,
    Ended,
}

/// A task in memory. There is at most one for each task, as long as anybody holds it.
pub(crate) struct LiveTask {
    /// A lock that is held while an event is applied, stored and given to every follower: so all of
    /// them see the same order, and a snapshot and what follows it fit together.
    pub(super) state: Mutex<LiveState>,
    pub(super) stage: watch::Sender<Stage>,
}

/// What the lock protects.
#[derive(Default)]
pub(crate) struct LiveState {
    /// None until it was read from the database.
    pub(super) loaded: Option<Loaded>,
    followers: Vec<mpsc::Sender<Update>>,
    /// The position of the turn that is being followed.
    pub(super) driven: Option<u32>,
    /// What stops that turn, where it runs here.
    pub(super) stop: Option<CancellationToken>,
}

pub(crate) struct Loaded {
    pub(super) row: TaskRow,
    pub(super) turns: Vec<TurnRow>,
    pub(super) projection: Projection,
    /// The position of the last event that was applied.
    pub(super) seen: u64,
    /// Whether the newest turn is over.
    pub(super) finished: bool,
}

impl LiveTask {
    fn new() -> Self {
        Self { state: Mutex::default(), stage: watch::Sender::new(Stage::Running) }
    }

    /// Waits until nothing more comes by itself.
    pub(crate) async fn settled(&self) {
        // The sender is in `self`, so that it cannot have gone.
        let _ = self.stage.subscribe().wait_for(|stage| *stage > Stage::Running).await;
    }

    /// Waits for the end.
    pub(crate) async fn ended(&self) {
        let _ = self.stage.subscribe().wait_for(|stage| *stage == Stage::Ended).await;
    }

    /// What the caller gets, as of now.
    pub(crate) async fn reply(&self) -> Option<Reply> {
        let state = self.state.lock().await;
        let projection = &state.loaded.as_ref()?.projection;
        Some(match projection.message() {
            Some(message) => Reply::Message(message.clone()),
            None => Reply::Task(projection.task()),
        })
    }
}

impl LiveState {
    /// Whether what is known may not be true any more: it was never read, or nobody keeps it up to
    /// date and nobody was told anything that has to go on from here.
    pub(super) fn needs_reading(&self) -> bool {
        match &self.loaded {
            None => true,
            Some(loaded) => {
                self.driven.is_none() && self.followers.is_empty() && loaded.stage() != Stage::Ended
            }
        }
    }

    /// The task as it is.
    pub(super) fn task(&self) -> Option<Task> {
        self.loaded.as_ref().map(|loaded| loaded.projection.task())
    }

    /// Gives updates to everybody. Who is too slow is left behind: their stream ends.
    pub(super) fn tell(&mut self, updates: Vec<StreamResponse>) {
        for update in updates {
            let update = Arc::new(update);
            self.followers.retain(|follower| follower.try_send(Arc::clone(&update)).is_ok());
        }
    }

    /// Whether one more may follow.
    pub(super) fn has_room(&mut self, most: usize) -> bool {
        self.followers.retain(|follower| !follower.is_closed());
        self.followers.len() < most
    }

    /// From now on, everything; none where there are too many already.
    pub(super) fn follow(&mut self, most: usize) -> Option<mpsc::Receiver<Update>> {
        if !self.has_room(most) {
            return None;
        }
        let (sender, receiver) = mpsc::channel(LAG);
        self.followers.push(sender);
        Some(receiver)
    }

    /// Nothing comes any more.
    pub(super) fn dismiss(&mut self) {
        self.followers.clear();
    }
}

impl Loaded {
    pub(super) fn stage(&self) -> Stage {
        let projection = &self.projection;
        if projection.message().is_some() || projection.state().is_terminal() {
            Stage::Ended
        } else if projection.is_interrupted() {
            Stage::Interrupted
        } else {
            Stage::Running
        }
    }
}

/// The tasks in memory, by id. A lock that is held for one look-up.
#[derive(Default)]
pub(crate) struct LiveTasks {
    tasks: SyncMutex<HashMap<String, Weak<LiveTask>>>,
}

impl LiveTasks {
    /// The one of this id, which may have to be loaded.
    pub(crate) fn task(&self, id: &str) -> Arc<LiveTask> {
        let mut tasks = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(task) = tasks.get(id).and_then(Weak::upgrade) {
            return task;
        }
        // Those that nobody holds any more go when new ones come.
        if tasks.len() >= 64 && tasks.len().is_power_of_two() {
            tasks.retain(|_, task| task.strong_count() > 0);
        }
        let task = Arc::new(LiveTask::new());
        tasks.insert(id.to_owned(), Arc::downgrade(&task));
        task
    }
}
