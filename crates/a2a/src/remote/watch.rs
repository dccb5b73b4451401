//! Checks the agents again: an unavailable one may return, an available one may change.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use lango_egress::{Backoff, BackoffPolicy};
use tokio::time::Instant;

use super::directory::{Directory, RemoteStatus};
use super::error::RemoteError;

/// The intervals between two checks of an unavailable agent.
const RETRY_INTERVALS: BackoffPolicy =
    BackoffPolicy::doubling(Duration::from_secs(5), Duration::from_mins(5));
/// The interval between two checks of an available agent's card.
const REVIEW_INTERVAL: Duration = Duration::from_mins(10);

/// An agent with the time of its next check.
struct WatchedAgent {
    status: RemoteStatus,
    retries: Backoff,
    /// True while an available agent cannot be reached.
    is_missed: bool,
    next: Instant,
}

impl WatchedAgent {
    fn new(status: RemoteStatus) -> Self {
        let mut retries = RETRY_INTERVALS.waits();
        let wait = if status.availability.is_ok() { REVIEW_INTERVAL } else { retries.next_wait() };
        Self { status, retries, is_missed: false, next: Instant::now() + wait }
    }

    /// Takes a new status. Returns whether it changes the team.
    fn take(&mut self, new: RemoteStatus) -> bool {
        let (was_there, is_there) = (self.status.availability.is_ok(), new.availability.is_ok());
        let changes = match (&self.status.availability, &new.availability) {
            (Ok(old), Ok(new)) => old.card.digest() != new.card.digest(),
            // An agent that is unreachable for a moment stays: its delegations report the error
            // themselves.
            (Ok(_), Err(RemoteError::Unreachable { .. })) => {
                if !std::mem::replace(&mut self.is_missed, true) {
                    tracing::warn!(agent = %new.name, "remote agent is unreachable");
                }
                self.next = Instant::now() + self.retries.next_wait();
                return false;
            }
            (Ok(_), Err(_)) | (Err(_), Ok(_)) => true,
            (Err(_), Err(_)) => false,
        };
        let is_missed = std::mem::take(&mut self.is_missed);
        match &new.availability {
            Ok(_) if !was_there || is_missed => {
                tracing::info!(agent = %new.name, "remote agent is available");
            }
            Err(error) if was_there => {
                tracing::warn!(agent = %new.name, "remote agent is not available any more");
                tracing::debug!(agent = %new.name, %error, "reason of its absence");
            }
            _ => {}
        }
        if was_there || is_there {
            self.retries.reset();
        }
        let wait = if is_there { REVIEW_INTERVAL } else { self.retries.next_wait() };
        self.next = Instant::now() + wait;
        self.status = new;
        changes
    }
}

impl Directory {
    /// Checks the agents forever, and calls `changed` with the new team and the changed agents.
    /// Stops when it is dropped.
    pub async fn watch(
        self: Arc<Self>,
        statuses: Vec<RemoteStatus>,
        changed: impl Fn(&[RemoteStatus], &[RemoteStatus]),
    ) {
        let mut watched: Vec<WatchedAgent> = statuses.into_iter().map(WatchedAgent::new).collect();
        while let Some(next) = watched.iter().map(|watched| watched.next).min() {
            tokio::time::sleep_until(next).await;
            let now = Instant::now();
            let due: Vec<_> = watched
                .iter()
                .filter(|watched| watched.next <= now)
                .map(|watched| watched.status.name.clone())
                .collect();
            let looked = join_all(due.iter().map(|name| self.check_agent(name))).await;
            let mut news = Vec::new();
            for new in looked.into_iter().flatten() {
                let Some(old) = watched.iter_mut().find(|old| old.status.name == new.name) else {
                    continue;
                };
                if old.take(new) {
                    news.push(old.status.clone());
                }
            }
            if !news.is_empty() {
                let statuses: Vec<RemoteStatus> =
                    watched.iter().map(|watched| watched.status.clone()).collect();
                changed(&statuses, &news);
            }
        }
    }
}
