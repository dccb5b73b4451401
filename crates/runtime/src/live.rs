//! Tracks the turns that run in this process and lets clients follow a turn: past events come from
//! the journal, new ones from the turn itself.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use lango_protocol::{Event, EventBody, SessionId, Space, TurnId};
use lango_store::{Journal, StoreError};
use parking_lot::Mutex;
use tokio::sync::{broadcast, mpsc};
use tokio_util::sync::CancellationToken;

/// Limits the events that a follower may lag behind before it has to read the journal.
const MAX_FOLLOWER_LAG: usize = 1024;
/// Sets how often the journal is read for a turn that another process runs.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Receives the events of a turn: for the client that started it, and for followers.
#[derive(Clone)]
pub(crate) struct Listener {
    starter: mpsc::Sender<Event>,
    followers: Followers,
}

/// The channel to the followers of a turn. It is created for the first one, because it allocates
/// its buffer at once and most turns have no follower.
#[derive(Clone, Default)]
struct Followers(Arc<OnceLock<broadcast::Sender<Event>>>);

impl Followers {
    fn notify(&self, event: &Event) {
        if let Some(followers) = self.0.get().filter(|sender| sender.receiver_count() > 0) {
            // The last follower may have gone in the meantime.
            let _ = followers.send(event.clone());
        }
    }

    fn join(&self) -> broadcast::Receiver<Event> {
        self.0.get_or_init(|| broadcast::channel(MAX_FOLLOWER_LAG).0).subscribe()
    }
}

impl Listener {
    /// Creates a listener that drops all events.
    pub(crate) fn none() -> Self {
        Self { starter: mpsc::channel(1).0, followers: Followers::default() }
    }

    pub(crate) async fn notify(&self, event: Event) {
        self.followers.notify(&event);
        // A listener that is gone does not stop a turn.
        let _ = self.starter.send(event).await;
    }
}

/// Stops a turn, and tells it why.
#[derive(Clone, Default)]
pub(crate) struct TurnControl {
    pub(crate) cancel: CancellationToken,
    /// The space of the sender, once it is known.
    space: Arc<OnceLock<Space>>,
    /// Why the client that the turn belongs to may not go on.
    revocation: Arc<OnceLock<String>>,
    /// True while the turn waits or runs in another process, and is safe without this one.
    idle: Arc<AtomicBool>,
}

impl TurnControl {
    /// Sets whose turn it is. A turn that goes on after a restart learns it from the journal.
    pub(crate) fn set_space(&self, space: &Space) {
        // It is the same each time.
        let _ = self.space.set(space.clone());
    }

    /// Says whether the turn is safe without this process.
    pub(crate) fn set_idle(&self, idle: bool) {
        self.idle.store(idle, Ordering::Release);
    }

    /// Returns why the turn was stopped, if its client lost its access.
    pub(crate) fn revocation(&self) -> Option<&str> {
        self.revocation.get().map(String::as_str)
    }
}

struct LiveTurn {
    followers: Followers,
    control: TurnControl,
}

/// Holds the turns that run in this process. The lock is held for one lookup.
#[derive(Clone, Default)]
pub(crate) struct LiveTurns {
    turns: Arc<Mutex<HashMap<TurnId, LiveTurn>>>,
}

impl LiveTurns {
    /// Registers a turn, so that it can be followed until the guard is dropped.
    pub(crate) fn register(
        &self,
        turn: TurnId,
        starter: mpsc::Sender<Event>,
        control: TurnControl,
    ) -> (Listener, LiveTurnGuard) {
        let followers = Followers::default();
        let live = LiveTurn { followers: followers.clone(), control };
        self.turns.lock().insert(turn, live);
        (Listener { starter, followers }, LiveTurnGuard { turns: self.clone(), turn })
    }

    /// Registers a turn as [`LiveTurns::register`] does, or returns the control of the one that is
    /// registered already.
    pub(crate) fn register_once(
        &self,
        turn: TurnId,
        starter: mpsc::Sender<Event>,
        control: TurnControl,
    ) -> Result<(Listener, LiveTurnGuard), TurnControl> {
        let mut turns = self.turns.lock();
        if let Some(live) = turns.get(&turn) {
            return Err(live.control.clone());
        }
        let followers = Followers::default();
        turns.insert(turn, LiveTurn { followers: followers.clone(), control });
        Ok((Listener { starter, followers }, LiveTurnGuard { turns: self.clone(), turn }))
    }

    fn follow(&self, turn: TurnId) -> Option<broadcast::Receiver<Event>> {
        let turns = self.turns.lock();
        turns.get(&turn).map(|live| live.followers.join())
    }

    /// Tells whether the turn is running.
    pub(crate) fn is_running(&self, turn: TurnId) -> bool {
        self.turns.lock().contains_key(&turn)
    }

    /// Tells whether this process runs the turn itself, or is the only one that it waits for.
    pub(crate) fn is_running_here(&self, turn: TurnId) -> bool {
        let turns = self.turns.lock();
        turns.get(&turn).is_some_and(|live| !live.control.idle.load(Ordering::Acquire))
    }

    /// Returns the number of turns that this process runs, or that wait for it alone.
    pub(crate) fn count(&self) -> usize {
        let turns = self.turns.lock();
        turns.values().filter(|live| !live.control.idle.load(Ordering::Acquire)).count()
    }

    /// Stops a turn of this process. Returns false if it is not running here.
    pub(crate) fn cancel(&self, turn: TurnId) -> bool {
        let turns = self.turns.lock();
        turns.get(&turn).inspect(|live| live.control.cancel.cancel()).is_some()
    }
}

impl LiveTurns {
    /// Stops the turns of a space in this process, and returns how many there were.
    pub(crate) fn revoke(&self, space: &Space, reason: &str) -> usize {
        let turns = self.turns.lock();
        let own = turns.values().filter(|live| live.control.space.get() == Some(space));
        own.map(|live| {
            // The first reason stays.
            let _ = live.control.revocation.set(reason.to_owned());
            live.control.cancel.cancel();
        })
        .count()
    }
}

/// Keeps a turn registered as running until it is dropped.
pub(crate) struct LiveTurnGuard {
    turns: LiveTurns,
    turn: TurnId,
}

impl LiveTurnGuard {
    pub(crate) fn turn(&self) -> TurnId {
        self.turn
    }
}

impl Drop for LiveTurnGuard {
    fn drop(&mut self) {
        self.turns.turns.lock().remove(&self.turn);
    }
}

/// Follows a turn to its end. It yields every recorded event after a position once and in order
/// and, if the turn runs in this process, the text of its agents as it streams.
pub struct TurnSubscription {
    journal: Journal,
    live_turns: LiveTurns,
    session: SessionId,
    turn: TurnId,
    /// The position of the last recorded event that was returned.
    seen: u64,
    waiting: VecDeque<Event>,
    live: Option<broadcast::Receiver<Event>>,
    /// True if the journal may hold events that were not returned and will not arrive live.
    missing: bool,
    ended: bool,
}

impl TurnSubscription {
    pub(crate) fn new(
        journal: Journal,
        live_turns: LiveTurns,
        session: SessionId,
        turn: TurnId,
        after: u64,
    ) -> Self {
        // Subscribes before the journal is read, so that no event is lost in between.
        let live = live_turns.follow(turn);
        let waiting = VecDeque::new();
        let (missing, ended) = (true, false);
        Self { journal, live_turns, session, turn, seen: after, waiting, live, missing, ended }
    }

    /// Returns the next event, or `None` when the turn is over and all events were returned.
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
                self.missing = self.wait_for_event().await;
            }
        }
    }

    /// Waits for a new event. Returns true if the journal has to be read for it.
    async fn wait_for_event(&mut self) -> bool {
        let Some(live) = &mut self.live else {
            tokio::time::sleep(POLL_INTERVAL).await;
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
        let events = self.journal.read_turn_events(&self.session, self.turn).await?;
        self.waiting.extend(events.into_iter().filter(|event| event.seq > self.seen));
        Ok(())
    }
}
