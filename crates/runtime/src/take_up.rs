//! Takes up promised turns that no live process runs.

use std::sync::Arc;
use std::time::Duration;

use lango_protocol::{OWNER, SessionId};
use lango_store::{Journal, StoreError};
use tokio_util::sync::CancellationToken;

use crate::retry::RETRY_WAITS;
use crate::{Teams, TurnError};

/// Sets how often abandoned turns are looked for.
const COLLECT_INTERVAL: Duration = Duration::from_secs(1);

/// Looks for promised turns that no live process runs, because theirs died or lost its database, and
/// runs them with the agents of their clients. Clones share everything.
#[derive(Clone)]
pub struct TurnCollector {
    journal: Journal,
    teams: Arc<dyn Teams>,
}

impl TurnCollector {
    /// Creates a collector.
    pub fn new(journal: Journal, teams: Arc<dyn Teams>) -> Self {
        Self { journal, teams }
    }

    /// Looks again and again, until it is stopped.
    pub async fn run(self, stop: CancellationToken) {
        let mut is_reported = false;
        let mut waits = RETRY_WAITS.waits();
        loop {
            let mut wait = COLLECT_INTERVAL;
            if let Err(error) = self.collect().await {
                // The database may come back.
                wait = waits.next_wait();
                if !is_reported {
                    tracing::warn!(%error, "cannot look for abandoned turns");
                    is_reported = true;
                }
            } else {
                is_reported = false;
                waits.reset();
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    /// Takes up what is abandoned now, each session in a task of its own.
    pub async fn collect(&self) -> Result<(), StoreError> {
        for session in self.journal.list_abandoned_sessions().await? {
            let collector = self.clone();
            tokio::spawn(async move {
                if let Err(error) = collector.work_off(&session).await {
                    tracing::warn!(%session, %error, "an abandoned turn was not taken up");
                }
            });
        }
        Ok(())
    }

    /// Runs the promised turns of a session in order, until there are none or another task or process
    /// does so.
    async fn work_off(&self, session: &SessionId) -> Result<(), TurnError> {
        while let Some(turn) = self.journal.find_next_turn(session).await? {
            let sender = crate::promise::find_sender(&self.journal, session, turn).await?;
            // It has ended meanwhile.
            let Some(sender) = sender else { return Ok(()) };
            let caller = sender.map_or_else(|| OWNER.parse().ok(), |sender| Some(sender.caller));
            // A client without access has no agents any more.
            let Some(team) = caller.and_then(|caller| self.teams.team(&caller)) else {
                return Ok(());
            };
            if team.is_under_way(turn) || !team.is_retry_due(turn) {
                return Ok(());
            }
            tracing::info!(%session, %turn, "an abandoned turn is taken up");
            match team.drive_turn(session.clone(), turn).wait_for_outcome().await {
                // It would break again.
                Err(TurnError::Broken(_)) => team.cancel_turn(session, turn).await?,
                ended => drop(ended?),
            }
        }
        Ok(())
    }
}
