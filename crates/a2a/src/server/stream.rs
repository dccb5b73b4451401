//! Defines a stream of updates, from a first snapshot to its end.

use std::sync::Arc;

use a2a::StreamResponse;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::live::{CallerReply, LiveTask, TaskUpdate};

/// The condition that ends a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamEnd {
    /// The stream ends when nothing more happens by itself.
    Settled,
    /// The stream ends when the task has ended.
    Ended,
}

/// A stream of updates. It keeps its task in memory.
pub(crate) struct Subscription {
    first: Option<TaskUpdate>,
    updates: Option<mpsc::Receiver<TaskUpdate>>,
    until: StreamEnd,
    over: bool,
    closing: CancellationToken,
    live: Option<Arc<LiveTask>>,
}

impl Subscription {
    pub(crate) fn new(
        first: Option<CallerReply>,
        updates: Option<mpsc::Receiver<TaskUpdate>>,
        until: StreamEnd,
    ) -> Self {
        let first = first.map(|reply| match reply {
            CallerReply::Task(task) => Arc::new(StreamResponse::Task(task)),
            CallerReply::Message(message) => Arc::new(StreamResponse::Message(message)),
        });
        Self { first, updates, until, over: false, closing: CancellationToken::new(), live: None }
    }

    /// Keeps the task in memory, and ends the stream when the endpoint is closed.
    pub(crate) fn keep_task(mut self, live: Arc<LiveTask>, closing: CancellationToken) -> Self {
        self.live = Some(live);
        self.closing = closing;
        self
    }

    /// Returns the next update; none when the stream is over.
    pub(crate) async fn next(&mut self) -> Option<TaskUpdate> {
        if self.over {
            return None;
        }
        let update = if let Some(first) = self.first.take() {
            // A first snapshot ends the stream only if no updates follow.
            let last = self.updates.is_none();
            self.over = last;
            return Some(first);
        } else {
            let updates = self.updates.as_mut()?;
            tokio::select! {
                biased;
                update = updates.recv() => update,
                () = self.closing.cancelled() => None,
            }
        };
        self.over = update.as_deref().is_none_or(|update| self.is_last(update));
        update
    }

    fn is_last(&self, update: &StreamResponse) -> bool {
        let state = match update {
            StreamResponse::Message(_) => return true,
            StreamResponse::Task(task) => &task.status.state,
            StreamResponse::StatusUpdate(status) => &status.status.state,
            StreamResponse::ArtifactUpdate(_) => return false,
        };
        let interrupted =
            matches!(state, a2a::TaskState::InputRequired | a2a::TaskState::AuthRequired);
        state.is_terminal() || (interrupted && self.until == StreamEnd::Settled)
    }
}
