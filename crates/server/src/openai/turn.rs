//! One turn for a request: followed to its end, whoever still listens.

use std::sync::Arc;
use std::time::Duration;

use lango_protocol::{Caller, Event};
use lango_runtime::{Following, TurnHandle, words_for_others};
use tokio::sync::mpsc;

use super::Shared;
use super::conversations::Known;
use super::error::ApiError;
use super::history::{History, Mark};
use super::telling::{Telling, Update};
use crate::room::Place;

/// Updates that may wait for a client that reads slowly.
const LAG: usize = 64;
/// A client that takes nothing for so long has gone.
const PATIENCE: Duration = Duration::from_mins(1);

/// What comes of a turn.
pub(super) enum News {
    /// Something on the way.
    Update(Update),
    /// The end.
    Ended(Result<Box<Telling>, ApiError>),
}

/// Where the events come from.
pub(super) enum Source {
    /// This request began the turn.
    Own(TurnHandle),
    /// Another request did, with the same key.
    Other(Box<Following>),
}

impl Source {
    async fn next(&mut self) -> Result<Option<Event>, ApiError> {
        match self {
            Self::Own(handle) => Ok(handle.next_event().await),
            Self::Other(following) => Ok(following.next_event().await?),
        }
    }

    /// Why the turn ended, where its events do not say it.
    async fn trouble(self) -> Option<ApiError> {
        match self {
            Self::Own(handle) => handle.outcome().await.err().map(ApiError::from),
            Self::Other(_) => None,
        }
    }
}

/// What is kept when the turn has ended.
pub(super) struct Keeping {
    pub(super) caller: Caller,
    pub(super) history: History,
    /// The mark that the request was recognised by.
    pub(super) taken: Option<Mark>,
}

/// A turn and what follows from it.
pub(super) struct Course {
    pub(super) shared: Arc<Shared>,
    pub(super) source: Source,
    pub(super) telling: Telling,
    /// Whether the turn ends with its client.
    pub(super) ends_with_client: bool,
    /// What is kept; nothing where another request keeps it.
    pub(super) keeping: Option<Keeping>,
    /// Whether the owner asked, who is told everything.
    pub(super) for_owner: bool,
    pub(super) place: Place,
}

impl Course {
    /// Follows the turn in a task of its own.
    pub(super) fn begin(self) -> mpsc::Receiver<News> {
        let (news, listening) = mpsc::channel(LAG);
        tokio::spawn(self.run(news));
        listening
    }

    async fn run(mut self, news: mpsc::Sender<News>) {
        let mut gone = false;
        let broken = loop {
            tokio::select! {
                () = news.closed(), if !gone => {
                    gone = true;
                    self.client_went();
                    // Whoever only listened leaves; whoever began the turn sees to its end.
                    if matches!(self.source, Source::Other(_)) {
                        return;
                    }
                }
                event = self.source.next() => match event {
                    Err(error) => break Some(error),
                    Ok(None) => break None,
                    Ok(Some(event)) => {
                        let Some(update) = self.telling.take(&event) else { continue };
                        if !gone {
                            let told = news.send_timeout(News::Update(update), PATIENCE).await;
                            gone = told.is_err();
                            if gone {
                                self.client_went();
                            }
                        }
                    }
                },
            }
        };
        let Self { shared, source, telling, keeping, for_owner, place, .. } = self;
        let broken = match broken {
            Some(error) => Some(error),
            None => source.trouble().await,
        };
        // Before the client knows that it has ended: its next request may come at once.
        if let Some(keeping) = keeping {
            keeping.keep(&shared, &telling).await;
        }
        drop(place);
        let ended = broken.map_or_else(|| ending(telling, for_owner), Err);
        // Whoever has gone does not need it.
        let _ = news.send(News::Ended(ended)).await;
    }

    fn client_went(&self) {
        // A server that ends leaves its turns as they are, for somebody to go on with.
        let closing = self.shared.closing.is_cancelled();
        if let (Source::Own(handle), true, false) = (&self.source, self.ends_with_client, closing) {
            handle.cancel();
        }
    }
}

/// An answer, or why there is none.
fn ending(telling: Telling, for_owner: bool) -> Result<Box<Telling>, ApiError> {
    match &telling.outcome {
        Some(outcome) if outcome.is_done() => Ok(Box::new(telling)),
        Some(outcome) => {
            let own = telling.answer.as_deref().filter(|_| for_owner);
            Err(ApiError::of_outcome(outcome, own.unwrap_or(words_for_others(outcome))))
        }
        None => Err(ApiError::closing()),
    }
}

impl Keeping {
    /// Keeps where the conversation is now: after the answer, or, where there was none, where it was
    /// before, so that the same message can be sent again.
    async fn keep(self, shared: &Shared, telling: &Telling) {
        let Self { caller, history, taken } = self;
        let done = telling.outcome.as_ref().is_some_and(lango_protocol::Outcome::is_done);
        let mark = match (&telling.answer, done) {
            (Some(answer), true) => Some(history.mark_after(&caller, answer)),
            _ => taken,
        };
        let Some(mark) = mark else { return };
        let session = &telling.session;
        // What cannot be kept costs a session: the next request begins a new one, with what was said
        // as an attachment.
        if let Ok(Some(summary)) = shared.journal.session(session).await {
            let instructions = history.mark_of_instructions();
            let known = Known { session: session.clone(), turns: summary.turns, instructions };
            let _ = shared.conversations.remember(&caller, &mark, &known).await;
        }
    }
}
