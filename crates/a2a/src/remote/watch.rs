//! Looking again: who was away may come back, who is there may change.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::Instant;

use super::directory::{Directory, Standing};
use super::error::RemoteError;

/// The first look after somebody, and the longest time between two.
const FIRST_WAIT: Duration = Duration::from_secs(5);
const LONGEST_WAIT: Duration = Duration::from_mins(5);
/// Between two looks at the card of somebody who is there.
const REVIEW: Duration = Duration::from_mins(10);

/// Somebody, and when to look again.
struct Watched {
    standing: Standing,
    wait: Duration,
    next: Instant,
}

impl Watched {
    fn new(standing: Standing) -> Self {
        let wait = if standing.found.is_ok() { REVIEW } else { FIRST_WAIT };
        Self { standing, wait, next: Instant::now() + wait }
    }

    /// Takes a new look in. Whether the team changes by it.
    fn take(&mut self, new: Standing) -> bool {
        let (was_there, is_there) = (self.standing.found.is_ok(), new.found.is_ok());
        let changes = match (&self.standing.found, &new.found) {
            (Ok(old), Ok(new)) => old.card.digest() != new.card.digest(),
            // Somebody who does not answer for a moment stays: hand-overs say so by themselves.
            (Ok(_), Err(RemoteError::Unreachable { .. })) => {
                let is_first = self.wait == REVIEW;
                self.wait = if is_first { FIRST_WAIT } else { (self.wait * 2).min(LONGEST_WAIT) };
                self.next = Instant::now() + self.wait;
                return false;
            }
            (Ok(_), Err(_)) | (Err(_), Ok(_)) => true,
            (Err(_), Err(_)) => false,
        };
        self.wait = match (was_there, is_there) {
            (_, true) => REVIEW,
            (true, false) => FIRST_WAIT,
            (false, false) => (self.wait * 2).min(LONGEST_WAIT),
        };
        self.next = Instant::now() + self.wait;
        self.standing = new;
        changes
    }
}

impl Directory {
    /// Looks again for ever, and says whenever the team is another one, and who came or went. Stops when
    /// it is dropped.
    pub async fn watch(
        self: Arc<Self>,
        standings: Vec<Standing>,
        changed: impl Fn(&[Standing], &[Standing]),
    ) {
        let mut watched: Vec<Watched> = standings.into_iter().map(Watched::new).collect();
        while let Some(next) = watched.iter().map(|watched| watched.next).min() {
            tokio::time::sleep_until(next).await;
            let now = Instant::now();
            let due: Vec<_> = watched
                .iter()
                .filter(|watched| watched.next <= now)
                .map(|watched| watched.standing.name.clone())
                .collect();
            let looked = join_all(due.iter().map(|name| self.look_for(name))).await;
            let mut news = Vec::new();
            for new in looked.into_iter().flatten() {
                let Some(old) = watched.iter_mut().find(|old| old.standing.name == new.name) else {
                    continue;
                };
                if old.take(new) {
                    news.push(old.standing.clone());
                }
            }
            if !news.is_empty() {
                let standings: Vec<Standing> =
                    watched.iter().map(|watched| watched.standing.clone()).collect();
                changed(&standings, &news);
            }
        }
    }
}
