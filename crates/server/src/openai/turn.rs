//! Follows the turn of a request to its end, even if the client is gone.

use std::sync::Arc;
use std::time::Duration;

use lango_protocol::Caller;
use lango_runtime::{TurnHandle, outcome_for_clients};
use tokio::sync::mpsc;

use super::EndpointState;
use super::conversations::ConversationRecord;
use super::error::ApiError;
use super::history::{ChatHistory, ConversationDigest};
use super::turn_summary::{StepUpdate, TurnSummary};
use crate::turn_quota::TurnPermit;

/// Limits the updates that wait for a slow client.
const MAX_PENDING_UPDATES: usize = 64;
/// Limits how long a client may not read. After that it counts as gone.
const CLIENT_TIMEOUT: Duration = Duration::from_mins(1);

/// Represents an update about a turn.
pub(super) enum TurnUpdate {
    /// An intermediate update.
    Update(StepUpdate),
    /// The end.
    Ended(Result<Box<TurnSummary>, ApiError>),
}

/// The source of the events.
pub(super) enum EventSource {
    /// This request started the turn.
    First(TurnHandle),
    /// Another request with the same key did.
    Repetition(TurnHandle),
}

impl EventSource {
    fn handle(&mut self) -> &mut TurnHandle {
        match self {
            Self::First(handle) | Self::Repetition(handle) => handle,
        }
    }

    /// Returns the error of a turn whose events do not include the outcome.
    async fn failure(self) -> Option<ApiError> {
        match self {
            Self::First(handle) | Self::Repetition(handle) => {
                handle.wait_for_outcome().await.err().map(ApiError::from)
            }
        }
    }
}

/// Stores the conversation when the turn has ended.
pub(super) struct ConversationSaver {
    pub(super) caller: Caller,
    pub(super) history: ChatHistory,
    /// The mark that identified the conversation of the request.
    pub(super) taken: Option<ConversationDigest>,
}

/// Follows a turn and reports to its client.
pub(super) struct TurnFollower {
    pub(super) shared: Arc<EndpointState>,
    pub(super) source: EventSource,
    pub(super) summary: TurnSummary,
    /// True if the turn is cancelled when its client goes.
    pub(super) ends_with_client: bool,
    /// Stores the conversation; none if another request does it.
    pub(super) saver: Option<ConversationSaver>,
    /// True if the owner asked, who may see every detail.
    pub(super) for_owner: bool,
    pub(super) permit: TurnPermit,
}

impl TurnFollower {
    /// Follows the turn in a task of its own.
    pub(super) fn start_following(self) -> mpsc::Receiver<TurnUpdate> {
        let (updates, listening) = mpsc::channel(MAX_PENDING_UPDATES);
        tokio::spawn(self.run(updates));
        listening
    }

    async fn run(mut self, updates: mpsc::Sender<TurnUpdate>) {
        let mut gone = false;
        loop {
            tokio::select! {
                () = updates.closed(), if !gone => {
                    gone = true;
                    self.on_client_gone();
                    // A request that only listened ends here; the one that started the turn follows
                    // it to its end.
                    if matches!(self.source, EventSource::Repetition(_)) {
                        return;
                    }
                }
                event = self.source.handle().next_event() => match event {
                    None => break,
                    Some(event) => {
                        let Some(update) = self.summary.apply_event(&event) else { continue };
                        if !gone {
                            let sent = updates.send_timeout(TurnUpdate::Update(update), CLIENT_TIMEOUT).await;
                            gone = sent.is_err();
                            if gone {
                                self.on_client_gone();
                            }
                        }
                    }
                },
            }
        }
        let Self { shared, source, summary, saver, for_owner, permit, .. } = self;
        let broken = source.failure().await;
        // This comes before the client learns of the end, because its next request may follow at
        // once.
        if let Some(saver) = saver {
            saver.save_conversation(&shared, &summary).await;
        }
        drop(permit);
        let ended = broken.map_or_else(|| answer_or_error(summary, for_owner), Err);
        // A client that is gone does not need it.
        let _ = updates.send(TurnUpdate::Ended(ended)).await;
    }

    fn on_client_gone(&self) {
        // A server that shuts down leaves its turns open, so that they can be resumed.
        let closing = self.shared.closing.is_cancelled();
        if let (EventSource::First(handle), true, false) =
            (&self.source, self.ends_with_client, closing)
        {
            handle.cancel();
        }
    }
}

/// Returns the answer, or the reason why there is none.
fn answer_or_error(summary: TurnSummary, for_owner: bool) -> Result<Box<TurnSummary>, ApiError> {
    match &summary.outcome {
        Some(outcome) if outcome.is_done() => Ok(Box::new(summary)),
        Some(outcome) => {
            let own = summary.answer.as_deref().filter(|_| for_owner);
            Err(ApiError::from_outcome(outcome, own.unwrap_or(outcome_for_clients(outcome))))
        }
        None => Err(ApiError::closing()),
    }
}

impl ConversationSaver {
    /// Stores the state of the conversation: after the answer or, if there was none, before the
    /// message, so that the same message can be sent again.
    async fn save_conversation(self, shared: &EndpointState, summary: &TurnSummary) {
        let Self { caller, history, taken } = self;
        let done = summary.outcome.as_ref().is_some_and(lango_protocol::Outcome::is_done);
        let mark = match (&summary.answer, done) {
            (Some(answer), true) => Some(history.mark_after(&caller, answer)),
            _ => taken,
        };
        let Some(mark) = mark else { return };
        let session = &summary.session;
        // If storing fails, the next request starts a new session, with the earlier messages as an
        // attachment.
        let kept = async {
            let Some(stored) = shared.journal.find_session(session).await? else { return Ok(()) };
            let instructions = history.mark_of_instructions();
            let known =
                ConversationRecord { session: session.clone(), turns: stored.turns, instructions };
            shared.conversations.store_session(&caller, &mark, &known).await
        };
        if let Err(error) = kept.await {
            tracing::warn!(%session, %error, "a conversation was not stored for its next request");
        }
    }
}
