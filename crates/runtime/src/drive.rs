//! Brings a promised turn to its end, whichever process runs it.
//!
//! The state in the database decides what to do, and is looked at again until the turn has ended: a
//! process that dies, is stopped or loses its database is made up for by the others.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use lango_protocol::{
    Event, EventBody, Outcome, OwnerStore, SessionId, Space, SpaceAccess, TurnId, WarningCode,
};
use lango_store::{QueuePlace, QueuedTurn, StoreError, TurnState};
use tokio::sync::mpsc;

use crate::TurnError;
use crate::begin::NotBegun;
use crate::live::{Listener, TurnControl, TurnSubscription};
use crate::promise::read_request;
use crate::runtime::SharedRuntime;
use crate::session::POLL_INTERVAL;

/// Sets how often a turn that another process runs is looked at.
const FOLLOW_INTERVAL: Duration = Duration::from_millis(200);

/// Limits how often a turn goes on by itself: one that ends its process each time must not end all of
/// them for ever.
const MAX_RESUMPTION_COUNT: u32 = 25;

impl SharedRuntime {
    pub(crate) async fn drive(
        self: Arc<Self>,
        session: SessionId,
        turn: TurnId,
        owner_stores: BTreeSet<OwnerStore>,
        listener: Listener,
        control: TurnControl,
    ) -> Result<Outcome, TurnError> {
        let shared = Arc::clone(&self);
        let end = self.drive_to_end(session, turn, owner_stores, listener, control).await;
        shared.failed_turns.note_end(turn, &end);
        end
    }

    async fn drive_to_end(
        self: Arc<Self>,
        session: SessionId,
        turn: TurnId,
        owner_stores: BTreeSet<OwnerStore>,
        listener: Listener,
        control: TurnControl,
    ) -> Result<Outcome, TurnError> {
        let mut seen = 0;
        loop {
            control.set_idle(true);
            match self.journal.find_turn_state(&session, turn).await? {
                TurnState::Queued(queued) => {
                    let run = self.run_queued(&queued, &owner_stores, &listener, &control).await;
                    match run {
                        Ok(Some(outcome)) => return Ok(outcome),
                        Ok(None) => tokio::time::sleep(POLL_INTERVAL).await,
                        Err(error) => return_unless_lost(error)?,
                    }
                }
                TurnState::Open(None) => {
                    let shown = self.show_events(&session, turn, &mut seen, &listener).await?;
                    control.set_idle(false);
                    if shown.resumptions >= MAX_RESUMPTION_COUNT {
                        tracing::error!(%session, %turn, "a turn was interrupted too often");
                        self.close_turn(&session, &control).await?;
                        continue;
                    }
                    let (shared, stores) = (Arc::clone(&self), owner_stores.clone());
                    let (events, stop) = (listener.clone(), control.clone());
                    // Another process may be faster; the next look sees it.
                    let at_once = Duration::ZERO;
                    let resumed = shared
                        .run_resumed(session.clone(), turn, stores, events, stop, at_once)
                        .await;
                    match resumed {
                        Err(TurnError::SessionBusy { .. } | TurnError::NothingToResume(_)) => {
                            tokio::time::sleep(POLL_INTERVAL).await;
                        }
                        Err(error) => return_unless_lost(error)?,
                        ended => return ended,
                    }
                }
                TurnState::Open(Some(_)) => {
                    self.show_events(&session, turn, &mut seen, &listener).await?;
                    tokio::time::sleep(FOLLOW_INTERVAL).await;
                }
                TurnState::Closed => {
                    let shown = self.show_events(&session, turn, &mut seen, &listener).await?;
                    return shown.outcome.ok_or(TurnError::NothingToResume(turn));
                }
            }
        }
    }

    /// Begins a queued turn if nothing comes before it, and runs it. Returns none if it did not begin
    /// here.
    async fn run_queued(
        self: &Arc<Self>,
        queued: &QueuedTurn,
        owner_stores: &BTreeSet<OwnerStore>,
        listener: &Listener,
        control: &TurnControl,
    ) -> Result<Option<Outcome>, TurnError> {
        let Some(request) = read_request(queued) else {
            // It can never run.
            self.journal.withdraw_turn(queued.turn).await?;
            return Ok(None);
        };
        let sender = request.sender.clone();
        let space = SpaceAccess::to(Space::of_sender(sender.as_ref()))
            .with_owner_stores(owner_stores.clone());
        control.set_space(space.own());
        let message = self.prepare_message(request).await;
        let mut cache = self.sessions.lock_session(&queued.session).await;
        match self.begin(&message, QueuePlace::Of(queued), listener, &mut cache).await {
            Ok(recorder) => {
                control.set_idle(false);
                let control = control.clone();
                self.run_begun(recorder, message, control, space, &mut cache).await.map(Some)
            }
            Err(NotBegun::Failed(error)) => Err(error),
            Err(NotBegun::Busy(_) | NotBegun::Gone) => Ok(None),
            Err(NotBegun::Behind(preceding)) => {
                drop(cache);
                if self.is_turn_of(&queued.session, preceding.turn, sender.as_ref()).await? {
                    self.help_turn(&queued.session, preceding.turn, owner_stores);
                }
                Ok(None)
            }
        }
    }

    /// Closes a turn that does not come to its end.
    async fn close_turn(
        self: &Arc<Self>,
        session: &SessionId,
        control: &TurnControl,
    ) -> Result<(), TurnError> {
        let _cache = self.sessions.lock_session(session).await;
        let claimed = self.claim_session(session, &control.cancel, Duration::ZERO).await;
        match claimed {
            Ok(claim) => {
                let claim = self.close_unfinished(claim).await?;
                Ok(self.journal.release_claim(claim).await?)
            }
            // Another process goes on with it after all.
            Err(TurnError::SessionBusy { .. }) => {
                tokio::time::sleep(POLL_INTERVAL).await;
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// Shows the recorded events that were not shown yet.
    async fn show_events(
        &self,
        session: &SessionId,
        turn: TurnId,
        seen: &mut u64,
        listener: &Listener,
    ) -> Result<ShownEvents, StoreError> {
        let mut shown = ShownEvents::default();
        for event in self.journal.read_turn_events(session, turn).await? {
            match &event.body {
                EventBody::TurnFinished(finished) => shown.outcome = Some(finished.clone()),
                EventBody::Warning { code: WarningCode::Resumed, .. } => shown.resumptions += 1,
                _ => {}
            }
            if event.seq > *seen {
                *seen = event.seq;
                listener.notify(event).await;
            }
        }
        Ok(shown)
    }
}

/// What the events of a turn say so far.
#[derive(Debug, Default)]
struct ShownEvents {
    /// How it ended, if it has.
    outcome: Option<Outcome>,
    /// How often it was interrupted and went on.
    resumptions: u32,
}

/// Returns the error, unless another process goes on with the turn.
fn return_unless_lost(error: TurnError) -> Result<(), TurnError> {
    match error {
        TurnError::Store(StoreError::SessionLost { .. }) => {
            tracing::warn!(%error, "another process goes on with the turn");
            Ok(())
        }
        error => Err(error),
    }
}

/// Passes on the events of a turn that this process brings to its end already.
pub(crate) async fn forward_events(
    mut subscription: TurnSubscription,
    turn: TurnId,
    listening: mpsc::Sender<Event>,
) -> Result<Outcome, TurnError> {
    let mut outcome = None;
    while let Some(event) = subscription.next_event().await? {
        if let EventBody::TurnFinished(finished) = &event.body {
            outcome = Some(finished.clone());
        }
        // A listener that is gone needs no more.
        if listening.send(event).await.is_err() {
            break;
        }
    }
    outcome.ok_or(TurnError::NothingToResume(turn))
}
