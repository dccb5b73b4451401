//! Continues the tasks that a dead process left unfinished.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use a2a::Message;
use lango_protocol::{Sender, TurnId};
use lango_store::StoreError;

use super::incoming;
use super::send::build_turn_request;
use super::tables::{TaskRow, TurnRow};
use super::tasks::Tasks;

/// The interval at which unfinished tasks are looked for that this process has taken up.
const ADOPT_INTERVAL: Duration = Duration::from_secs(1);

impl Tasks {
    /// Follows all unfinished tasks, and goes on with those of dead processes. The queue of the
    /// journal keeps them in order.
    pub(crate) async fn resume_unfinished(self: &Arc<Self>) -> Result<(), StoreError> {
        for row in self.tables.list_unfinished().await? {
            // A task that cannot be read does not block the others.
            if let Err(error) = self.resume_one(&row).await {
                report_not_resumed(&row.id, &error);
            }
        }
        let tasks = Arc::clone(self);
        self.background.spawn(async move {
            let closing = tasks.closing.clone();
            let adopting = async {
                loop {
                    tokio::time::sleep(ADOPT_INTERVAL).await;
                    if let Err(error) = tasks.adopt_tasks().await {
                        tracing::debug!(%error, "unfinished tasks could not be looked for");
                    }
                }
            };
            tokio::select! {
                () = closing.cancelled() => {}
                () = adopting => {}
            }
        });
        Ok(())
    }

    /// Follows the tasks of other processes whose turns this process has taken up, and stores the
    /// state of those whose turns ended without it.
    async fn adopt_tasks(self: &Arc<Self>) -> Result<(), StoreError> {
        let working = self.tables.list_working().await?;
        if working.is_empty() {
            return Ok(());
        }
        let unfinished: HashSet<TurnId> =
            self.journal.list_promised_turns().await?.into_iter().collect();
        for task in working {
            let Some(team) = self.teams.team(&task.caller) else { continue };
            let is_here = team.is_under_way(task.turn);
            if (is_here || !unfinished.contains(&task.turn))
                && let Some(row) = self.tables.find_task(&task.id).await?
            {
                self.resume_one(&row).await?;
            }
        }
        Ok(())
    }

    /// Follows one task, unless it is followed already.
    async fn resume_one(self: &Arc<Self>, row: &TaskRow) -> Result<(), StoreError> {
        let Some(team) = self.teams.team(&row.caller) else { return Ok(()) };
        let live = self.live.find_or_add(&row.id);
        let mut state = live.state.lock().await;
        if state.driven.is_some() {
            return Ok(());
        }
        let loaded = self.load_task(row.clone()).await?;
        live.stage.send_replace(loaded.stage());
        let turn = loaded.turns.last().cloned();
        let finished = loaded.finished;
        let ended = row.ended.is_some();
        state.loaded = Some(loaded);
        let Some(turn) = turn else { return Ok(()) };
        if finished || ended {
            if !ended {
                self.store_state(&mut state).await;
            }
            return Ok(());
        }
        if let Some(request) = self.read_pending(row, &turn) {
            team.promise_again(&request).await?;
        }
        let handle = team.drive_turn(row.session.clone(), turn.turn);
        state.driven = Some(turn.position);
        state.stop = Some(handle.canceller());
        drop(state);
        // These turns had their permits when they began.
        let permit = self.acquire_turn_permit(&row.caller).ok();
        self.spawn_turn_follower(&live, turn.position, handle, permit);
        Ok(())
    }

    /// Returns the request of a turn that an earlier version accepted, and that may not have begun.
    fn read_pending(&self, row: &TaskRow, turn: &TurnRow) -> Option<lango_runtime::TurnRequest> {
        let message: Message = serde_json::from_str(turn.pending.as_deref()?).ok()?;
        let read = incoming::read_message(&message, &self.settings.input_modes).ok()?;
        let sender = Sender {
            caller: row.caller.clone(),
            message: Some(turn.message_id.clone()),
            trace: row.traceparent.clone(),
        };
        Some(build_turn_request(sender, row.session.clone(), turn.turn, read))
    }
}

fn report_not_resumed(task: &str, error: &StoreError) {
    tracing::error!(%task, %error, "an unfinished task was not resumed");
}
