//! Begins turns and goes on with interrupted ones: claims the session, writes the first event, and
//! keeps the conversation for the next turn.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use lango_egress::BackoffPolicy;
use lango_model::{Image, UserMessage};
use lango_protocol::{
    DirectCall, EventBody, Outcome, OwnerStore, Sender, SessionId, Space, SpaceAccess, Timestamp,
    TurnId, WarningCode,
};
use lango_store::{
    ClaimError, LeaseOwner, PrecedingTurn, QueuePlace, SessionClaim, StoreError, StoredOutput,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::TurnError;
use crate::events_adapter::MAX_TURNS_WITH_CALLS;
use crate::images::{load_images, store_images};
use crate::live::{Listener, TurnControl};
use crate::observer::FinishedTurn;
use crate::record::TurnRecord;
use crate::recorder::{EventDraft, Recorder, WriteOptions};
use crate::request::{TurnInput, TurnRequest};
use crate::runtime::SharedRuntime;
use crate::session::{self, POLL_INTERVAL, SessionCache};
use crate::turn::Turn;

/// The waits between two looks at a turn that comes first.
const PRECEDING_TURN_WAITS: BackoffPolicy =
    BackoffPolicy::doubling(Duration::from_millis(25), Duration::from_millis(200));

/// The message of a turn that is about to begin.
pub(crate) struct FirstMessage {
    session: SessionId,
    turn: TurnId,
    draft: EventDraft,
    outputs: Vec<StoredOutput>,
    images: Vec<Image>,
}

/// The reason why a turn did not begin.
pub(crate) enum NotBegun {
    /// A process works in the session.
    Busy(LeaseOwner),
    /// Another turn comes first.
    Behind(PrecedingTurn),
    /// It has begun in another process, or was withdrawn.
    Gone,
    Failed(TurnError),
}

impl From<TurnError> for NotBegun {
    fn from(error: TurnError) -> Self {
        Self::Failed(error)
    }
}

impl From<ClaimError> for NotBegun {
    fn from(error: ClaimError) -> Self {
        match error {
            ClaimError::Busy(owner) => Self::Busy(owner),
            ClaimError::Behind(turn) => Self::Behind(turn),
            ClaimError::Gone => Self::Gone,
            ClaimError::Store(error) => Self::Failed(error.into()),
        }
    }
}

impl SharedRuntime {
    /// Runs a turn that a client waits for, after everything that was promised before.
    pub(crate) async fn run_new(
        self: Arc<Self>,
        request: TurnRequest,
        owner_stores: BTreeSet<OwnerStore>,
        listener: Listener,
        control: TurnControl,
    ) -> Result<Outcome, TurnError> {
        let space = SpaceAccess::to(Space::of_sender(request.sender.as_ref()))
            .with_owner_stores(owner_stores.clone());
        control.set_space(space.own());
        let (session, sender) = (request.session.clone(), request.sender.clone());
        let message = self.prepare_message(request).await;
        let mut place = QueuePlace::After(None);
        let mut cache = self.sessions.lock_session(&session).await;
        let mut deadline = Instant::now() + self.settings.claim_wait;
        let mut waits = PRECEDING_TURN_WAITS.waits();
        loop {
            match self.begin(&message, place, &listener, &mut cache).await {
                Ok(recorder) => {
                    return self.run_begun(recorder, message, control, space, &mut cache).await;
                }
                Err(NotBegun::Failed(error)) => return Err(error),
                Err(NotBegun::Busy(owner)) => {
                    if Instant::now() >= deadline || control.cancel.is_cancelled() {
                        return Err(TurnError::SessionBusy { session, owner });
                    }
                    // In both cases the next iteration decides.
                    let _ = tokio::time::timeout(POLL_INTERVAL, control.cancel.cancelled()).await;
                }
                Err(NotBegun::Behind(preceding)) => {
                    let turn = preceding.turn;
                    if !self.is_turn_of(&session, turn, sender.as_ref()).await? {
                        // It is for the agents of another client, which may never come.
                        place = QueuePlace::First;
                        continue;
                    }
                    if let QueuePlace::After(None) = place {
                        place = QueuePlace::After(Some(preceding.last.unwrap_or(i64::MIN)));
                    }
                    drop(cache);
                    self.help_turn(&session, turn, &owner_stores);
                    tokio::time::sleep(waits.next_wait()).await;
                    cache = self.sessions.lock_session(&session).await;
                    deadline = Instant::now() + self.settings.claim_wait;
                }
                // Only queued turns can be gone.
                Err(NotBegun::Gone) => return Err(TurnError::NothingToResume(message.turn)),
            }
        }
    }

    /// Makes the message of a request as it is recorded.
    pub(crate) async fn prepare_message(&self, request: TurnRequest) -> FirstMessage {
        self.learn_secrets().await;
        let scrub = |text: &str| self.scrubber.scrub(text).into_owned();
        let (message, call) = match request.input {
            TurnInput::Message(message) => (message, None),
            TurnInput::Call(call) => {
                let call = DirectCall { arguments: scrub(&call.arguments), ..call };
                (UserMessage::new(format!("{} {}", call.tool, call.arguments)), Some(call))
            }
        };
        let (images, outputs) = store_images(request.turn, &message.images);
        let draft = EventDraft::of_user(EventBody::UserMessage {
            text: scrub(&message.text),
            attachment: message.attachment.as_deref().map(scrub),
            images,
            origin: request.origin,
            sender: request.sender,
            call,
        });
        let (session, turn, images) = (request.session, request.turn, message.images);
        FirstMessage { session, turn, draft, outputs, images }
    }

    /// Claims the session and writes the message, once. The caller holds the session in this process.
    pub(crate) async fn begin(
        self: &Arc<Self>,
        message: &FirstMessage,
        place: QueuePlace<'_>,
        listener: &Listener,
        cache: &mut SessionCache,
    ) -> Result<Recorder, NotBegun> {
        self.drop_cache_after_redaction(cache);
        let (session, turn, known) = (&message.session, message.turn, cache.head);
        // If the cache is current, the message is written together with the claim, unless it has
        // images to store.
        let at_once = message.outputs.is_empty();
        let (claim, first) = self
            .journal
            .claim_with(session, &self.workspace, place, |head| {
                let event =
                    || message.draft.clone().into_event(session, turn, head + 1, Timestamp::now());
                (at_once && head == known).then(event).into_iter().collect()
            })
            .await?;
        let journal = self.journal.clone();
        if !first.is_empty() {
            let recorder = Recorder::new(journal, claim, turn, &first, listener.clone());
            recorder.notify(first).await;
            return Ok(recorder);
        }
        let claim = self.close_unfinished(claim).await?;
        self.refresh_cache(&claim, cache).await?;
        let recorder = Recorder::new(journal, claim, turn, &[], listener.clone());
        let queued = match place {
            QueuePlace::Of(queued) => Some(queued.clone()),
            QueuePlace::First | QueuePlace::After(_) => None,
        };
        let is_queued = queued.is_some();
        let options =
            WriteOptions { outputs: message.outputs.clone(), queued, ..WriteOptions::default() };
        match recorder.record_with(vec![message.draft.clone()], options).await {
            Ok(()) => Ok(recorder),
            // Its row was not the first any more.
            Err(StoreError::Conflict { .. }) if is_queued => Err(NotBegun::Gone),
            Err(error) => Err(NotBegun::Failed(error.into())),
        }
    }

    /// Runs a turn that has begun.
    pub(crate) async fn run_begun(
        self: &Arc<Self>,
        recorder: Recorder,
        message: FirstMessage,
        control: TurnControl,
        space: SpaceAccess,
        cache: &mut SessionCache,
    ) -> Result<Outcome, TurnError> {
        let turns = Arc::clone(&cache.turns);
        let turn = Turn::new(Arc::clone(self), recorder, turns, message.images, control, space);
        self.run_and_cache(turn, cache).await
    }

    /// Tells whether a promised turn has this sender, so that the agents of this runtime are its own.
    pub(crate) async fn is_turn_of(
        &self,
        session: &SessionId,
        turn: TurnId,
        sender: Option<&Sender>,
    ) -> Result<bool, TurnError> {
        let other = crate::promise::find_sender(&self.journal, session, turn).await?;
        // One that is not there any more need not be compared.
        Ok(other.is_none_or(|other| Space::of_sender(other.as_ref()) == Space::of_sender(sender)))
    }

    /// Goes on with a turn that was interrupted.
    pub(crate) async fn run_resumed(
        self: Arc<Self>,
        session: SessionId,
        turn: TurnId,
        owner_stores: BTreeSet<OwnerStore>,
        listener: Listener,
        control: TurnControl,
        wait: Duration,
    ) -> Result<Outcome, TurnError> {
        let mut cache = self.sessions.lock_session(&session).await;
        self.drop_cache_after_redaction(&mut cache);
        let claim = self.claim_session(&session, &control.cancel, wait).await?;
        let events = self.journal.read_turn_events(&session, turn).await?;
        let record = TurnRecord::from_events(&events);
        if events.is_empty() || record.outcome().is_some() {
            self.journal.release_claim(claim).await?;
            return Err(TurnError::NothingToResume(turn));
        }
        self.refresh_cache(&claim, &mut cache).await?;
        let turns = Arc::clone(&cache.turns);
        let images = load_images(&self.journal, &session, &record.images).await?;
        let recorder = Recorder::new(self.journal.clone(), claim, turn, &events, listener);
        let text = "this turn was interrupted and goes on".to_owned();
        let resumed = EventBody::Warning { code: WarningCode::Resumed, text };
        recorder.record(vec![EventDraft::of_runtime(None, resumed)]).await?;
        let space = SpaceAccess::to(Space::of_sender(record.sender.as_ref()))
            .with_owner_stores(owner_stores);
        control.set_space(space.own());
        let turn = Turn::new(Arc::clone(&self), recorder, turns, images, control, space);
        turn.close_interrupted_calls().await?;
        self.run_and_cache(turn, &mut cache).await
    }

    /// Runs the turn and caches the conversation for the next one.
    async fn run_and_cache(
        &self,
        turn: Turn,
        cache: &mut SessionCache,
    ) -> Result<Outcome, TurnError> {
        let (session, id) = (turn.recorder.session().clone(), turn.recorder.turn());
        let absences = self.take_absences();
        if !absences.is_empty() {
            let warning = |text| EventBody::Warning { code: WarningCode::AgentAbsent, text };
            let drafts =
                absences.into_iter().map(|text| EventDraft::of_runtime(None, warning(text)));
            turn.recorder.record(drafts.collect()).await?;
        }
        let is_direct_call = turn.is_direct_call().await;
        let space = turn.space.own().clone();
        // The rest of a turn is a large future, and most callers only wait for it.
        let ended = Box::pin(turn.run()).await?;
        let mut turns = Vec::clone(&cache.turns);
        turns.extend(self.adapter.past_turns(ended.conversation()));
        let finished = cache.finished + 1;
        let visible = visible_turns(finished, self.settings.history_turns);
        turns.drain(..turns.len().saturating_sub(visible as usize));
        let redactions = cache.redactions;
        *cache = SessionCache { head: ended.head, finished, turns: Arc::new(turns), redactions };
        if !is_direct_call {
            let turn = FinishedTurn::new(session, id, space, ended.events, redactions);
            self.observer_tasks.start_observers(turn);
        }
        Ok(ended.outcome)
    }

    pub(crate) async fn claim_session(
        &self,
        session: &SessionId,
        cancel: &CancellationToken,
        wait: Duration,
    ) -> Result<SessionClaim, TurnError> {
        session::claim_with_wait(&self.journal, session, &self.workspace, wait, cancel).await
    }

    /// Drops the cached conversation if text was redacted from the journal since, because redacted
    /// text must not be in a later prompt.
    fn drop_cache_after_redaction(&self, cache: &mut SessionCache) {
        let redactions = self.journal.redactions();
        if cache.redactions != redactions {
            *cache = SessionCache { redactions, ..SessionCache::default() };
        }
    }

    /// Reads the conversation, unless the cache is current.
    async fn refresh_cache(
        &self,
        claim: &SessionClaim,
        cache: &mut SessionCache,
    ) -> Result<(), TurnError> {
        if cache.head == claim.head() {
            return Ok(());
        }
        let finished = self.journal.count_finished_turns(claim.session()).await?;
        let visible = visible_turns(finished, self.settings.history_turns);
        let events =
            self.journal.read_conversation(claim.session(), visible, MAX_TURNS_WITH_CALLS).await?;
        let turns = Arc::new(self.adapter.past_turns(&events));
        let redactions = cache.redactions;
        *cache = SessionCache { head: claim.head(), finished, turns, redactions };
        Ok(())
    }

    /// Ends turns of this session that a crash interrupted and that were not resumed, so that the
    /// journal never has two open turns.
    pub(crate) async fn close_unfinished(
        self: &Arc<Self>,
        mut claim: SessionClaim,
    ) -> Result<SessionClaim, TurnError> {
        let session = claim.session().clone();
        for unfinished in self.journal.list_unfinished_turns(Some(&session)).await? {
            let events = self.journal.read_turn_events(&session, unfinished.turn).await?;
            let recorder = Recorder::new(
                self.journal.clone(),
                claim,
                unfinished.turn,
                &events,
                Listener::none(),
            );
            recorder.update(TurnRecord::stop_clock).await;
            let control = TurnControl::default();
            control.cancel.cancel();
            let record = TurnRecord::from_events(&events);
            let space = SpaceAccess::to(Space::of_sender(record.sender.as_ref()));
            let (past, images) = (Arc::default(), Vec::new());
            let turn = Turn::new(Arc::clone(self), recorder, past, images, control, space);
            turn.close_all_calls().await?;
            Box::pin(turn.run()).await?;
            let (cancel, wait) = (CancellationToken::new(), self.settings.claim_wait);
            claim = self.claim_session(&session, &cancel, wait).await?;
        }
        Ok(claim)
    }
}

/// Returns how many of the finished turns a model sees: at most `limit`. The first of them stays
/// the same for several turns and then moves by a third of the limit, in every process, because
/// providers cache a conversation from its beginning.
fn visible_turns(finished: u64, limit: u32) -> u32 {
    let surplus = finished.saturating_sub(u64::from(limit));
    let step = u64::from(limit / 3).max(1);
    let dropped = surplus.div_ceil(step) * step;
    u32::try_from(finished.saturating_sub(dropped)).unwrap_or(limit).min(limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_turn_that_is_shown_moves_in_steps() {
        let first = |finished: u64| finished - u64::from(visible_turns(finished, 30));
        assert_eq!((visible_turns(0, 30), visible_turns(30, 30)), (0, 30));
        let firsts: Vec<u64> = (31..=61).map(first).collect();
        assert_eq!(firsts[..10], [10; 10]);
        assert_eq!(firsts[10..20], [20; 10]);
        assert!((1..500).all(|finished| visible_turns(finished, 30) <= 30));
        assert!((1..500).all(|finished| visible_turns(finished, 1) <= 1));
        assert!((1..500).all(|finished| visible_turns(finished, 0) == 0));
    }
}
