//! Turns under way in this process, and how anybody can follow one: from the journal what has been,
//! from the turn itself what comes.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use lango_protocol::{Event, EventBody, SessionId, TurnId};
use lango_store::{Journal, StoreError};
use tokio::sync::{broadcast, mpsc};
use tokio_util::sync::CancellationToken;

/// Events that a follower may lag behind before it has to look into the journal.
const FOLLOWER_LAG: usize = 1024;
/// How often the journal is looked at for a turn that another process runs.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Where the events of a turn go: to whoever started it, and to followers.
#[derive(Clone)]
pub(crate) struct Listener {
    starter: mpsc::Sender<Event>,
    followers: Followers,
}

/// The channel to those who follow a turn. Made for the first of them, because its room is taken at
/// once, and most turns are followed by nobody.
#[derive(Clone, Default)]
struct Followers(Arc<OnceLock<broadcast::Sender<Event>>>);

impl Followers {
    fn tell(&self, event: &Event) {
        if let Some(followers) = self.0.get().filter(|sender| sender.receiver_count() > 0) {
            // The last follower may have left just now.
            let _ = followers.send(event.clone());
        }
    }

    fn join(&self) -> broadcast::Receiver<Event> {
        self.0.get_or_init(|| broadcast::channel(FOLLOWER_LAG).0).subscribe()
    }
}

impl Listener {
    /// Nobody listens.
    pub(crate) fn nobody() -> Self {
        Self { starter: mpsc::channel(1).0, followers: Followers::default() }
    }

    pub(crate) async fn tell(&self, event: Event) {
        self.followers.tell(&event);
        // A listener that is gone does not stop a turn.
        let _ = self.starter.send(event).await;
    }
}

struct LiveTurn {
    followers: Followers,
    cancel: CancellationToken,
}

/// The turns under way in this process. A lock that is held for one look-up.
#[derive(Clone, Default)]
pub(crate) struct LiveTurns {
    turns: Arc<Mutex<HashMap<TurnId, LiveTurn>>>,
}

impl LiveTurns {
    /// From now on the turn can be followed, until what is returned is dropped.
    pub(crate) fn begin(
        &self,
        turn: TurnId,
        starter: mpsc::Sender<Event>,
        cancel: CancellationToken,
    ) -> (Listener, Lives) {
        let followers = Followers::default();
        let live = LiveTurn { followers: followers.clone(), cancel };
        self.turns.lock().unwrap_or_else(PoisonError::into_inner).insert(turn, live);
        (Listener { starter, followers }, Lives { turns: self.clone(), turn })
    }

    fn follow(&self, turn: TurnId) -> Option<broadcast::Receiver<Event>> {
        let turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.get(&turn).map(|live| live.followers.join())
    }

    /// Whether the turn is under way.
    pub(crate) fn has(&self, turn: TurnId) -> bool {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner).contains_key(&turn)
    }

    /// How many are.
    pub(crate) fn count(&self) -> usize {
        self.turns.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Stops a turn of this process; whether there is one.
    pub(crate) fn cancel(&self, turn: TurnId) -> bool {
        let turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
        turns.get(&turn).inspect(|live| live.cancel.cancel()).is_some()
    }
}

/// A turn is under way as long as this lives.
pub(crate) struct Lives {
    turns: LiveTurns,
    turn: TurnId,
}

impl Drop for Lives {
    fn drop(&mut self) {
        self.turns.turns.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.turn);
    }
}

/// Follows a turn to its end: every recorded event after a position once and in order, and, where the
/// turn runs in this process, the words of its agents as they come.
pub struct Following {
    journal: Journal,
    live_turns: LiveTurns,
    session: SessionId,
    turn: TurnId,
    /// The position of the last recorded event that was given out.
    seen: u64,
    waiting: VecDeque<Event>,
    live: Option<broadcast::Receiver<Event>>,
    /// Something may be in the journal that was not given out and will not come live.
    missing: bool,
    ended: bool,
}

impl Following {
    pub(crate) fn new(
        journal: Journal,
        live_turns: LiveTurns,
        session: SessionId,
        turn: TurnId,
        after: u64,
    ) -> Self {
        // Before the journal is read, so that nothing falls between the two.
        let live = live_turns.follow(turn);
        let waiting = VecDeque::new();
        let (missing, ended) = (true, false);
        Self { journal, live_turns, session, turn, seen: after, waiting, live, missing, ended }
    }

    /// The next event; `None` when the turn is over and everything was given out.
    pub async fn next_event(&mut self) -> Result<Option<Event>, StoreError> {
        loop {
            if let Some(event) = self.waiting.pop_front() {
                self.seen = self.seen.max(event.seq);
                self.ended |= matches!(event.body, EventBody::TurnFinished(_));
                return Ok(Some(event));
            }
            if self.ended {
                return Ok(None);
            }
            if self.missing {
                self.read_journal().await?;
                self.missing = false;
            } else {
                self.missing = self.listen().await;
            }
        }
    }

    /// Waits for something new; whether the journal has to be read for it.
    async fn listen(&mut self) -> bool {
        let Some(live) = &mut self.live else {
            tokio::time::sleep(LOOK_EVERY).await;
            self.live = self.live_turns.follow(self.turn);
            return true;
        };
        match live.recv().await {
            Ok(event) if event.body.is_durable() => {
                // A gap: it was read from the journal, or will be.
                if event.seq == self.seen + 1 {
                    self.waiting.push_back(event);
                    return false;
                }
                event.seq > self.seen
            }
            Ok(event) => {
                if event.seq >= self.seen {
                    self.waiting.push_back(event);
                }
                false
            }
            Err(broadcast::error::RecvError::Lagged(_)) => true,
            Err(broadcast::error::RecvError::Closed) => {
                self.live = None;
                true
            }
        }
    }

    async fn read_journal(&mut self) -> Result<(), StoreError> {
        let events = self.journal.turn_events(&self.session, self.turn).await?;
        self.waiting.extend(events.into_iter().filter(|event| event.seq > self.seen));
        Ok(())
    }
}
