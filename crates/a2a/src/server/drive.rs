//! What happens in a turn, brought to its task: applied, stored, and told to whoever follows.

use std::sync::Arc;
use std::time::Duration;

use a2a::StreamResponse;
use lango_protocol::{Caller, Event};
use lango_runtime::{Following, TurnHandle};
use tokio::sync::OwnedSemaphorePermit;

use super::clock;
use super::live::{LiveState, LiveTask, Stage};
use super::tables::EndedBeside;
use super::tasks::{Tasks, internal};
use crate::wire::error::ProtocolError;

/// How often a change of the list is tried to be stored. The journal has it in any case.
const ATTEMPTS: u32 = 3;

/// How often a task that is followed from here is looked at.
const LOOK_AGAIN: Duration = Duration::from_secs(2);

/// Where the events of a turn come from.
pub(super) enum Source {
    /// It runs here.
    Here(Box<TurnHandle>),
    /// It runs in another process, or was interrupted.
    Elsewhere(Box<Following>),
}

impl Tasks {
    /// Follows a turn in the background to its end.
    pub(super) fn drive(
        self: &Arc<Self>,
        live: &Arc<LiveTask>,
        position: u32,
        source: Source,
        permit: Option<OwnedSemaphorePermit>,
    ) {
        let (tasks, live) = (Arc::clone(self), Arc::clone(live));
        self.background.spawn(async move {
            let closing = tasks.closing.clone();
            tokio::select! {
                biased;
                () = closing.cancelled() => {}
                () = tasks.follow_turn(&live, source) => {}
            }
            let mut state = live.state.lock().await;
            // A further turn may have begun by now: what it has set is its own.
            if state.driven == Some(position) {
                (state.driven, state.stop) = (None, None);
            }
            drop(state);
            drop(permit);
        });
    }

    async fn follow_turn(&self, live: &LiveTask, source: Source) {
        match source {
            Source::Here(mut handle) => {
                while let Some(event) = handle.next_event().await {
                    self.hear(live, &event).await;
                }
                if handle.outcome().await.is_err() {
                    let mut state = live.state.lock().await;
                    // The task stays as it is if even this cannot be stored; a restart sees to it.
                    let _ = self.end(live, &mut state, EndedBeside::Failed).await;
                }
            }
            Source::Elsewhere(mut following) => {
                let follow = async {
                    loop {
                        match following.next_event().await {
                            Ok(Some(event)) => self.hear(live, &event).await,
                            Ok(None) => return,
                            // The database may come back.
                            Err(_) => tokio::time::sleep(Duration::from_secs(1)).await,
                        }
                    }
                };
                tokio::select! {
                    () = follow => {}
                    () = self.ended_beside(live) => {}
                }
            }
        }
    }

    /// Waits until a task has ended beside its turns, here or in another process: then its turn may
    /// never say anything.
    async fn ended_beside(&self, live: &LiveTask) {
        loop {
            // What ends here is known at once, and what ends elsewhere soon.
            let _ = tokio::time::timeout(LOOK_AGAIN, live.ended()).await;
            let mut state = live.state.lock().await;
            let Some(loaded) = state.loaded.as_mut() else { return };
            if loaded.stage() == Stage::Ended {
                return;
            }
            let Ok(Some(row)) = self.tables.task(&loaded.row.id).await else { continue };
            if let Some((how, at)) = row.ended {
                loaded.row = row;
                let updates = loaded.projection.end(how, at);
                self.tell(live, &mut state, updates);
                return;
            }
        }
    }

    async fn hear(&self, live: &LiveTask, event: &Event) {
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
            // Everybody was told that it has ended.
            return;
        }
        let projection = &mut loaded.projection;
        let before = (projection.state().clone(), projection.is_revealed());
        let updates = projection.apply(event);
        let has_ended = projection.message().is_some();
        let after = (projection.state().clone(), projection.is_revealed());
        // That an agent has begun to think is worth no write: it may be over with the next one.
        let worth = after != before && (after.1 || has_ended);
        if worth {
            self.store(&mut state).await;
        }
        self.tell(live, &mut state, updates);
    }

    /// Stores what is known of a task, before anybody is told.
    pub(super) async fn store(&self, state: &mut LiveState) {
        let Some(loaded) = state.loaded.as_mut() else { return };
        let projection = &loaded.projection;
        let (now, at) = (projection.state().clone(), projection.status_at());
        loaded.row.state = now.clone();
        loaded.row.status_at = at;
        loaded.row.revealed = projection.is_revealed();
        for attempt in 1..=ATTEMPTS {
            let stored = self.tables.set_state(&loaded.row.id, &now, at, loaded.row.revealed).await;
            if stored.is_ok() || attempt == ATTEMPTS {
                return;
            }
            tokio::time::sleep(Duration::from_millis(200) * attempt).await;
        }
    }

    /// Tells whoever follows, and wakes whoever waits.
    pub(super) fn tell(
        &self,
        live: &LiveTask,
        state: &mut LiveState,
        updates: Vec<StreamResponse>,
    ) {
        let news = !updates.is_empty();
        state.tell(updates);
        let Some(loaded) = &state.loaded else { return };
        let reached = loaded.stage();
        if news && let Some(notifier) = &self.notifier {
            notifier.wake(&loaded.row.id);
        }
        if reached == Stage::Ended {
            state.dismiss();
        }
        live.stage.send_if_modified(|known| {
            let changed = *known != reached;
            *known = reached;
            changed
        });
    }

    /// Ends a task beside its turns.
    pub(super) async fn end(
        &self,
        live: &LiveTask,
        state: &mut LiveState,
        how: EndedBeside,
    ) -> Result<(), ProtocolError> {
        let Some(loaded) = state.loaded.as_mut() else { return Ok(()) };
        if loaded.stage() == Stage::Ended {
            return Ok(());
        }
        let at = clock::now().max(loaded.projection.status_at());
        if !self.tables.end(&loaded.row, how, at).await.map_err(internal)? {
            return Ok(());
        }
        loaded.row.ended = Some((how, at));
        let updates = loaded.projection.end(how, at);
        self.tell(live, state, updates);
        Ok(())
    }

    /// Follows a turn that nobody here follows, because another process runs it.
    pub(super) async fn follow_elsewhere(
        self: &Arc<Self>,
        caller: &Caller,
        live: &Arc<LiveTask>,
    ) -> Result<(), ProtocolError> {
        let mut state = live.state.lock().await;
        if state.driven.is_some() {
            return Ok(());
        }
        let Some(loaded) = &state.loaded else { return Ok(()) };
        let open = !loaded.finished && loaded.stage() != Stage::Ended;
        let Some(turn) = loaded.turns.last().filter(|_| open) else { return Ok(()) };
        let following =
            self.team(caller)?.follow(loaded.row.session.clone(), turn.turn, loaded.seen);
        let position = turn.position;
        state.driven = Some(position);
        self.drive(live, position, Source::Elsewhere(Box::new(following)), None);
        Ok(())
    }
}
