//! Checks the agents again: an unavailable one may return, an available one may change.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::Instant;

use super::directory::{Directory, RemoteStatus};
use super::error::RemoteError;

/// The first and the longest interval between two checks of an unavailable agent.
const MIN_RETRY_INTERVAL: Duration = Duration::from_secs(5);
const MAX_RETRY_INTERVAL: Duration = Duration::from_mins(5);
/// The interval between two checks of an available agent's card.
const REVIEW_INTERVAL: Duration = Duration::from_mins(10);

/// An agent with the time of its next check.
struct WatchedAgent {
    status: RemoteStatus,
    wait: Duration,
    next: Instant,
}

impl WatchedAgent {
    fn new(status: RemoteStatus) -> Self {
        let wait = if status.availability.is_ok() { REVIEW_INTERVAL } else { MIN_RETRY_INTERVAL };
        Self { status, wait, next: Instant::now() + wait }
    }

    /// Takes a new status. Returns whether it changes the team.
    fn take(&mut self, new: RemoteStatus) -> bool {
        let (was_there, is_there) = (self.status.availability.is_ok(), new.availability.is_ok());
        let changes = match (&self.status.availability, &new.availability) {
            (Ok(old), Ok(new)) => old.card.digest() != new.card.digest(),
            // An agent that is unreachable for a moment stays: its delegations report the error
            // themselves.
            (Ok(_), Err(RemoteError::Unreachable { .. })) => {
                let is_first = self.wait == REVIEW_INTERVAL;
                self.wait = if is_first {
                    MIN_RETRY_INTERVAL
                } else {
                    (self.wait * 2).min(MAX_RETRY_INTERVAL)
                };
                self.next = Instant::now() + self.wait;
                return false;
            }
            (Ok(_), Err(_)) | (Err(_), Ok(_)) => true,
            (Err(_), Err(_)) => false,
        };
        self.wait = match (was_there, is_there) {
            (_, true) => REVIEW_INTERVAL,
            (true, false) => MIN_RETRY_INTERVAL,
            (false, false) => (self.wait * 2).min(MAX_RETRY_INTERVAL),
        };
        self.next = Instant::now() + self.wait;
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
