//! Continues the tasks that a dead process left unfinished.

use std::sync::Arc;
use std::time::Duration;

use a2a::Message;
use lango_protocol::{Sender, SessionId, TurnId};
use lango_store::StoreError;

use super::drive::EventSource;
use super::incoming;
use super::send::build_turn_request;
use super::tables::{ForcedEnd, TaskRow};
use super::tasks::Tasks;

impl Tasks {
    /// Starts or continues the turns that a dead process left unfinished. Interrupted turns come
    /// first, because a new turn of a session closes those that are not continued. Turns that had
    /// not begun follow in their order.
    pub(crate) async fn resume_unfinished(self: &Arc<Self>) -> Result<(), StoreError> {
        let mut interrupted = Vec::new();
        let mut waiting = Vec::new();
        // A task that cannot be read does not block the others.
        for row in self.tables.list_unfinished().await? {
            match self.resume_one(&row, false).await {
                Ok(ResumeResult::Runs(turn)) => interrupted.push((row.session, turn)),
                Ok(ResumeResult::Waits(at)) => waiting.push((at, row)),
                Ok(ResumeResult::Nothing) => {}
                Err(error) => report_not_resumed(&row.id, &error),
            }
        }
        waiting.sort_by_key(|(at, _)| *at);
        for (_, row) in waiting {
            let first = interrupted.iter().filter(|(session, _)| *session == row.session);
            for (session, turn) in first {
                self.wait_until_running(session, *turn).await;
            }
            if let Err(error) = self.resume_one(&row, true).await {
                report_not_resumed(&row.id, &error);
            }
        }
        Ok(())
    }

    /// Waits until a resumed turn holds its session, or a short time if it does not get it.
    async fn wait_until_running(&self, session: &SessionId, turn: TurnId) {
        for _ in 0..200 {
            // The turn that waits for this one reports the error itself.
            let Ok(unfinished) = self.journal.list_unfinished_turns(Some(session)).await else {
                return;
            };
            let still = unfinished.iter().find(|other| other.turn == turn);
            if still.is_none_or(|turn| turn.running.is_some()) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Resumes one task; if its turn had not begun, only with `begin`.
    async fn resume_one(
        self: &Arc<Self>,
        row: &TaskRow,
        begin: bool,
    ) -> Result<ResumeResult, StoreError> {
        let Some(team) = self.teams.team(&row.caller) else { return Ok(ResumeResult::Nothing) };
        let live = self.live.find_or_add(&row.id);
        let mut state = live.state.lock().await;
        if state.driven.is_some() {
            return Ok(ResumeResult::Nothing);
        }
        let loaded = self.load_task(row.clone()).await?;
        live.stage.send_replace(loaded.stage());
        let turn = loaded.turns.last().cloned();
        let (finished, seen) = (loaded.finished, loaded.seen);
        let ended = row.ended.is_some();
        state.loaded = Some(loaded);
        let Some(turn) = turn else { return Ok(ResumeResult::Nothing) };
        if finished || ended {
            if !ended {
                self.store_state(&mut state).await;
            }
            return Ok(ResumeResult::Nothing);
        }
        let events = self.journal.read_turn_events(&row.session, turn.turn).await?;
        let source = if events.is_empty() {
            if !begin {
                return Ok(ResumeResult::Waits(turn.at));
            }
            let pending = turn.pending.as_deref().and_then(|text| serde_json::from_str(text).ok());
            let Some(read) = pending.and_then(|message: Message| {
                incoming::read_message(&message, &self.settings.input_modes).ok()
            }) else {
                // It can never run. If this cannot be stored, the next start tries again.
                tracing::warn!(task = %row.id, "the message of a task cannot be read again");
                let _ = self.force_end(&live, &mut state, ForcedEnd::Failed).await;
                return Ok(ResumeResult::Nothing);
            };
            let sender = Sender {
                caller: row.caller.clone(),
                message: Some(turn.message_id.clone()),
                trace: row.traceparent.clone(),
            };
            let request = build_turn_request(sender, row.session.clone(), turn.turn, read);
            EventSource::ThisProcess(Box::new(team.start_turn(request)))
        } else {
            let unfinished = self.journal.list_unfinished_turns(Some(&row.session)).await?;
            let runs =
                unfinished.iter().any(|other| other.turn == turn.turn && other.running.is_some());
            if runs {
                let following = team.follow(row.session.clone(), turn.turn, seen);
                EventSource::OtherProcess(Box::new(following))
            } else {
                EventSource::ThisProcess(Box::new(team.resume_turn(row.session.clone(), turn.turn)))
            }
        };
        state.driven = Some(turn.position);
        state.stop = match &source {
            EventSource::ThisProcess(handle) => Some(handle.canceller()),
            EventSource::OtherProcess(_) => None,
        };
        drop(state);
        // These turns had their permits when they began.
        let permit = self.acquire_turn_permit(&row.caller).ok();
        self.spawn_turn_follower(&live, turn.position, source, permit);
        Ok(ResumeResult::Runs(turn.turn))
    }
}

fn report_not_resumed(task: &str, error: &StoreError) {
    tracing::error!(%task, %error, "an unfinished task was not resumed");
}

/// The result of resuming a task.
enum ResumeResult {
    /// There was nothing to do, or the caller has no agents.
    Nothing,
    /// Its turn has not begun; holds the time of its message.
    Waits(i64),
    /// This turn continues.
    Runs(TurnId),
}
