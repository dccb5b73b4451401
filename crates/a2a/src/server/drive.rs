//! Applies the events of a turn to its task, stores the result and publishes it to the followers.

use std::sync::Arc;
use std::time::Duration;

use a2a::StreamResponse;
use lango_egress::BackoffPolicy;
use lango_protocol::{Caller, Event};
use lango_runtime::{TurnError, TurnHandle};
use tokio::sync::OwnedSemaphorePermit;

use super::clock;
use super::live::{LiveState, LiveTask, TaskStage};
use super::tables::ForcedEnd;
use super::tasks::{Tasks, internal_error};
use crate::wire::error::ProtocolError;

/// Limits how often a change of the task list is written. The journal has it in any case.
const MAX_STORE_ATTEMPTS: u32 = 3;

/// The waits before a turn is tried again that the database did not let go on.
const RETRY_WAITS: BackoffPolicy =
    BackoffPolicy::doubling(Duration::from_secs(1), Duration::from_secs(8));

/// The interval at which a task that runs in another process is checked.
const RECHECK_INTERVAL: Duration = Duration::from_secs(2);

impl Tasks {
    /// Follows a turn in the background to its end.
    pub(super) fn spawn_turn_follower(
        self: &Arc<Self>,
        live: &Arc<LiveTask>,
        position: u32,
        handle: TurnHandle,
        permit: Option<OwnedSemaphorePermit>,
    ) {
        let (tasks, live) = (Arc::clone(self), Arc::clone(live));
        self.background.spawn(async move {
            let closing = tasks.closing.clone();
            tokio::select! {
                biased;
                () = closing.cancelled() => {}
                () = tasks.follow_turn(&live, handle) => {}
            }
            let mut state = live.state.lock().await;
            // A further turn may have begun by now: its values must stay.
            if state.driven == Some(position) {
                (state.driven, state.stop) = (None, None);
            }
            drop(state);
            drop(permit);
        });
    }

    async fn follow_turn(&self, live: &LiveTask, handle: TurnHandle) {
        tokio::select! {
            () = self.apply_events(live, handle) => {}
            () = self.wait_for_forced_end(live) => {}
        }
    }

    /// Applies the events of a turn until it has ended, whichever process runs it.
    async fn apply_events(&self, live: &LiveTask, mut handle: TurnHandle) {
        let (session, turn) = (handle.session().clone(), handle.turn());
        let mut waits = RETRY_WAITS.waits();
        loop {
            while let Some(event) = handle.next_event().await {
                self.apply_event(live, &event).await;
            }
            let Err(error) = handle.wait_for_outcome().await else { return };
            let mut state = live.state.lock().await;
            let Some(caller) = state.loaded.as_ref().map(|loaded| loaded.row.caller.clone()) else {
                return;
            };
            // It is queued or open: it goes on when the database is back, in this process or another.
            let goes_on = matches!(error, TurnError::Store(_) | TurnError::SessionBusy { .. });
            let Some(team) = self.teams.team(&caller).filter(|_| goes_on) else {
                tracing::error!(%turn, %error, "the turn of a task cannot go on");
                // The error is logged where it occurs. If this cannot be stored, the task stays as it
                // is, and is looked at again.
                let _ = self.force_end(live, &mut state, ForcedEnd::Failed).await;
                return;
            };
            drop(state);
            tokio::time::sleep(waits.next_wait()).await;
            handle = team.drive_turn(session.clone(), turn);
        }
    }

    /// Waits until a task was ended without its turn, in this or another process: its turn may then
    /// never produce another event. One that runs here is stopped.
    async fn wait_for_forced_end(&self, live: &LiveTask) {
        loop {
            // An end in this process is seen at once, one in another process at the next check, and
            // so is one that cannot be read now.
            let _ = tokio::time::timeout(RECHECK_INTERVAL, live.wait_for_end()).await;
            let mut state = live.state.lock().await;
            let Some(loaded) = state.loaded.as_mut() else { return };
            if loaded.stage() == TaskStage::Ended {
                return;
            }
            let Ok(Some(row)) = self.tables.find_task(&loaded.row.id).await else { continue };
            if let Some((how, at)) = row.ended {
                loaded.row = row;
                if let Some(stop) = &state.stop {
                    stop.cancel();
                }
                let Some(loaded) = state.loaded.as_mut() else { return };
                let updates = loaded.projection.force_end(how, at);
                self.publish_updates(live, &mut state, updates);
                return;
            }
        }
    }

    async fn apply_event(&self, live: &LiveTask, event: &Event) {
        let mut state = live.state.lock().await;
        let Some(loaded) = state.loaded.as_mut() else { return };
        if event.body.is_durable() {
            if event.seq <= loaded.seen {
                return;
            }
            loaded.seen = event.seq;
        }
        loaded.finished |= matches!(event.body, lango_protocol::EventBody::TurnFinished(_));
        if loaded.row.ended.is_some() {
            // All followers were told that it has ended.
            return;
        }
        let projection = &mut loaded.projection;
        let before = (projection.state().clone(), projection.is_revealed());
        let updates = projection.apply(event);
        let has_ended = projection.message().is_some();
        let after = (projection.state().clone(), projection.is_revealed());
        // The begin of an agent's work is not worth a write: the next event may end it.
        let worth = after != before && (after.1 || has_ended);
        if worth {
            self.store_state(&mut state).await;
        }
        self.publish_updates(live, &mut state, updates);
    }

    /// Stores the state of a task, before it is published.
    pub(super) async fn store_state(&self, state: &mut LiveState) {
        let Some(loaded) = state.loaded.as_mut() else { return };
        let projection = &loaded.projection;
        let (now, at) = (projection.state().clone(), projection.status_at());
        loaded.row.state = now.clone();
        loaded.row.status_at = at;
        loaded.row.revealed = projection.is_revealed();
        for attempt in 1..=MAX_STORE_ATTEMPTS {
            let task = &loaded.row.id;
            match self.tables.set_state(task, &now, at, loaded.row.revealed).await {
                Ok(()) => return,
                Err(error) if attempt == MAX_STORE_ATTEMPTS => {
                    tracing::error!(%task, %error, "the state of a task was not stored");
                    return;
                }
                Err(error) => {
                    tracing::debug!(%task, attempt, %error, "storing a task's state failed");
                }
            }
            tokio::time::sleep(Duration::from_millis(200) * attempt).await;
        }
    }

    /// Publishes updates to the followers and wakes the requests that wait.
    pub(super) fn publish_updates(
        &self,
        live: &LiveTask,
        state: &mut LiveState,
        updates: Vec<StreamResponse>,
    ) {
        let news = !updates.is_empty();
        state.publish(updates);
        let Some(loaded) = &state.loaded else { return };
        let reached = loaded.stage();
        if news && let Some(notifier) = &self.notifier {
            notifier.signal_change(&loaded.row.id);
        }
        if reached == TaskStage::Ended {
            state.drop_followers();
        }
        let has_changed = live.stage.send_if_modified(|known| {
            let changed = *known != reached;
            *known = reached;
            changed
        });
        if has_changed
            && let Some(loaded) = state.loaded.as_ref()
            && reached == TaskStage::Ended
        {
            let state = loaded.projection.state();
            tracing::info!(task = %loaded.row.id, ?state, "task ended");
        }
    }

    /// Ends a task without its turn.
    pub(super) async fn force_end(
        &self,
        live: &LiveTask,
        state: &mut LiveState,
        how: ForcedEnd,
    ) -> Result<(), ProtocolError> {
        let Some(loaded) = state.loaded.as_mut() else { return Ok(()) };
        if loaded.stage() == TaskStage::Ended {
            return Ok(());
        }
        let at = clock::now().max(loaded.projection.status_at());
        let turn = loaded.turns.last().map(|turn| turn.turn);
        if !self.tables.force_end(&loaded.row, turn, how, at).await.map_err(internal_error)? {
            return Ok(());
        }
        loaded.row.ended = Some((how, at));
        let updates = loaded.projection.force_end(how, at);
        self.publish_updates(live, state, updates);
        Ok(())
    }

    /// Follows a turn that another process runs, unless it is already followed, and goes on with it if
    /// that process dies.
    pub(super) async fn follow_other_process(
        self: &Arc<Self>,
        caller: &Caller,
        live: &Arc<LiveTask>,
    ) -> Result<(), ProtocolError> {
        let mut state = live.state.lock().await;
        if state.driven.is_some() {
            return Ok(());
        }
        let Some(loaded) = &state.loaded else { return Ok(()) };
        let open = !loaded.finished && loaded.stage() != TaskStage::Ended;
        let Some(turn) = loaded.turns.last().filter(|_| open) else { return Ok(()) };
        let position = turn.position;
        let handle = self.find_runtime(caller)?.drive_turn(loaded.row.session.clone(), turn.turn);
        state.driven = Some(position);
        state.stop = Some(handle.canceller());
        self.spawn_turn_follower(live, position, handle, None);
        Ok(())
    }
}
