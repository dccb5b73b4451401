//! Is the only place where a turn writes. Events get their position, go to the journal, into the
//! record, and then to the listener, in this order.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex as SyncMutex, PoisonError};
use std::time::{Duration, Instant};

use lango_protocol::{
    AgentName, CallId, Event, EventBody, EventId, Outcome, OutcomeStatus, RUNTIME, SessionId,
    Timestamp, TurnId,
};
use lango_store::{
    Durability, Journal, JournalAppend, QueuedTurn, SessionClaim, StoreError, StoredOutput,
};
use tokio::sync::Mutex;

use crate::live::Listener;
use crate::record::TurnRecord;
use crate::words;

/// Holds a turn that has ended.
pub(crate) struct EndedTurn {
    pub(crate) outcome: Outcome,
    /// The position of its last event.
    pub(crate) head: u64,
    /// All its events, in order.
    pub(crate) events: Vec<Event>,
}

impl EndedTurn {
    /// Returns the events that later turns may see.
    pub(crate) fn conversation(&self) -> impl Iterator<Item = &Event> {
        let seen_later = |event: &&Event| {
            matches!(
                event.body,
                EventBody::UserMessage { .. }
                    | EventBody::Message { answer: true, .. }
                    | EventBody::Transfer { .. }
                    | EventBody::TransferFinished { .. }
                    | EventBody::ToolCall { .. }
                    | EventBody::ToolResult { .. }
            )
        };
        self.events.iter().filter(seen_later)
    }
}

/// Identifies the speaking agent and its transfer.
#[derive(Debug, Clone)]
pub(crate) struct Speaker {
    pub(crate) agent: AgentName,
    pub(crate) branch: Option<CallId>,
}

/// Holds an event that has no position in the journal yet.
#[derive(Debug, Clone)]
pub(crate) struct EventDraft {
    author: String,
    branch: Option<CallId>,
    step: Option<u32>,
    body: EventBody,
}

impl EventDraft {
    /// Creates an event that belongs to one of the agent's model calls.
    pub(crate) fn with_step(speaker: &Speaker, step: u32, body: EventBody) -> Self {
        let author = speaker.agent.as_str().to_owned();
        Self { author, branch: speaker.branch.clone(), step: Some(step), body }
    }

    /// Creates an event that belongs to an agent but to none of its model calls.
    pub(crate) fn without_step(speaker: &Speaker, body: EventBody) -> Self {
        let author = speaker.agent.as_str().to_owned();
        Self { author, branch: speaker.branch.clone(), step: None, body }
    }

    /// Creates an event of the runtime in a branch.
    pub(crate) fn of_runtime(branch: Option<&CallId>, body: EventBody) -> Self {
        Self { author: RUNTIME.to_owned(), branch: branch.cloned(), step: None, body }
    }

    /// Creates an event of the user.
    pub(crate) fn of_user(body: EventBody) -> Self {
        Self { author: lango_protocol::USER.to_owned(), branch: None, step: None, body }
    }

    /// Returns the event with its position in the journal.
    pub(crate) fn into_event(
        self,
        session: &SessionId,
        turn: TurnId,
        seq: u64,
        at: Timestamp,
    ) -> Event {
        Event {
            id: EventId::generate(),
            session: session.clone(),
            turn,
            seq,
            at,
            author: Some(self.author),
            branch: self.branch,
            step: self.step,
            body: self.body,
        }
    }
}

/// Holds the options of a write.
#[derive(Debug)]
pub(crate) struct WriteOptions {
    pub(crate) outputs: Vec<StoredOutput>,
    pub(crate) durability: Durability,
    /// Releases the session; nothing can be written afterwards.
    pub(crate) release: bool,
    /// The queued turn that begins with this write.
    pub(crate) queued: Option<QueuedTurn>,
}

/// Measures the time of a turn in this process. It goes on evenly when the wall clock is set.
#[derive(Debug)]
struct TurnClock {
    begin: Timestamp,
    measured: Instant,
}

impl TurnClock {
    fn start() -> Self {
        Self { begin: Timestamp::now(), measured: Instant::now() }
    }

    fn now(&self) -> Timestamp {
        self.begin.plus(self.measured.elapsed())
    }
}

impl Default for WriteOptions {
    /// Returns the options of a step: the end of the turn brings it to the disk.
    fn default() -> Self {
        let durability = Durability::ProcessCrash;
        Self { outputs: Vec::new(), durability, release: false, queued: None }
    }
}

#[derive(Default)]
struct RecorderState {
    record: TurnRecord,
    /// All events of the turn, for those who learn from it.
    events: Vec<Event>,
}

impl RecorderState {
    /// Applies an event that happened at `now`, whatever the wall clock said.
    fn apply(&mut self, event: &Event, now: Timestamp) {
        self.record.apply_at(event, now);
        self.events.push(event.clone());
    }
}

/// Writes one turn.
pub(crate) struct Recorder {
    journal: Journal,
    claim: SessionClaim,
    turn: TurnId,
    /// Held across the append, because parallel branches must not interleave within a batch and
    /// positions must reach the journal in order.
    state: Mutex<RecorderState>,
    head: AtomicU64,
    /// When the write began that is not yet answered. A lock, because it is read beside the write.
    write_start: SyncMutex<Option<Instant>>,
    listener: Listener,
    clock: TurnClock,
}

impl Recorder {
    pub(crate) fn new(
        journal: Journal,
        claim: SessionClaim,
        turn: TurnId,
        earlier: &[Event],
        listener: Listener,
    ) -> Self {
        let head = AtomicU64::new(claim.head());
        let mut state = RecorderState::default();
        for event in earlier {
            state.apply(event, event.at);
        }
        let write_start = SyncMutex::new(None);
        let (state, clock) = (Mutex::new(state), TurnClock::start());
        Self { journal, claim, turn, state, head, write_start, listener, clock }
    }

    /// Returns the time of this turn, which does not follow the wall clock when that is set.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    pub(crate) fn session(&self) -> &SessionId {
        self.claim.session()
    }

    pub(crate) fn turn(&self) -> TurnId {
        self.turn
    }

    /// Returns the position of the newest event.
    pub(crate) fn newest_position(&self) -> u64 {
        self.head.load(Ordering::Acquire)
    }

    /// Reads the record.
    pub(crate) async fn inspect<T>(&self, inspect: impl FnOnce(&TurnRecord) -> T) -> T {
        inspect(&self.state.lock().await.record)
    }

    /// Changes the part of the record that is not in the journal: the count of running model calls.
    pub(crate) async fn update<T>(&self, update: impl FnOnce(&mut TurnRecord) -> T) -> T {
        update(&mut self.state.lock().await.record)
    }

    /// Writes all events or none, and notifies the listener.
    pub(crate) async fn record(&self, drafts: Vec<EventDraft>) -> Result<(), StoreError> {
        self.record_with(drafts, WriteOptions::default()).await
    }

    /// Writes events with options.
    pub(crate) async fn record_with(
        &self,
        drafts: Vec<EventDraft>,
        options: WriteOptions,
    ) -> Result<(), StoreError> {
        let mut state = self.state.lock().await;
        let at = Timestamp::now();
        let events = self.assign_positions(drafts, at);
        for event in &events {
            state.apply(event, self.now());
        }
        self.write(&events, options).await?;
        self.notify(events).await;
        Ok(())
    }

    /// Writes the end of the turn: `drafts`, a text for the user if no agent answered, and the
    /// outcome. Then releases the session.
    pub(crate) async fn record_end(
        &self,
        drafts: Vec<EventDraft>,
        status: OutcomeStatus,
    ) -> Result<EndedTurn, StoreError> {
        let mut state = self.state.lock().await;
        let at = Timestamp::now();
        let answered = drafts
            .iter()
            .any(|draft| matches!(draft.body, EventBody::Message { answer: true, .. }));
        let mut events = self.assign_positions(drafts, at);
        for event in &events {
            state.apply(event, self.now());
        }
        state.record.add_time_until(self.now());
        let mut last = state.record.close_delegations(&status);
        let outcome = Outcome { status, work: state.record.work() };
        if !answered {
            let text = words::describe_outcome(&outcome);
            last.push(EventBody::Message { text, answer: true });
        }
        last.push(EventBody::TurnFinished(outcome.clone()));
        let seq = self.newest_position() + events.len() as u64;
        for (body, seq) in last.into_iter().zip(seq + 1..) {
            let event = self.build_event(EventDraft::of_runtime(None, body), seq, at);
            state.apply(&event, self.now());
            events.push(event);
        }
        // The user or client hears the answer once this is written.
        let options = WriteOptions {
            release: true,
            durability: Durability::Acknowledged,
            ..WriteOptions::default()
        };
        self.write(&events, options).await?;
        self.notify(events).await;
        let events = std::mem::take(&mut state.events);
        Ok(EndedTurn { outcome, head: self.newest_position(), events })
    }

    /// Gives each draft its position.
    fn assign_positions(&self, drafts: Vec<EventDraft>, at: Timestamp) -> Vec<Event> {
        let positions = self.newest_position() + 1..;
        drafts
            .into_iter()
            .zip(positions)
            .map(|(draft, seq)| self.build_event(draft, seq, at))
            .collect()
    }

    async fn write(&self, events: &[Event], options: WriteOptions) -> Result<(), StoreError> {
        let append = JournalAppend {
            events: events.into(),
            outputs: options.outputs,
            durability: options.durability,
            release: options.release,
            queued: options.queued,
        };
        self.set_write_start(Some(Instant::now()));
        let appended = self.journal.append(&self.claim, append).await;
        self.set_write_start(None);
        appended?;
        self.head.store(self.newest_position() + events.len() as u64, Ordering::Release);
        Ok(())
    }

    fn set_write_start(&self, start: Option<Instant>) {
        *self.write_start.lock().unwrap_or_else(PoisonError::into_inner) = start;
    }

    /// Returns how long a write has been waiting for its answer.
    pub(crate) fn write_time(&self) -> Option<Duration> {
        let start = *self.write_start.lock().unwrap_or_else(PoisonError::into_inner);
        start.map(|start| start.elapsed())
    }

    /// Returns the error for a store that did not answer a write.
    pub(crate) fn silence_error(&self, waited: Duration) -> StoreError {
        self.journal.silence_error(waited)
    }

    /// Sends written events to the listener.
    pub(crate) async fn notify(&self, events: Vec<Event>) {
        for event in events {
            self.listener.notify(event).await;
        }
    }

    /// Shows a piece of a message without writing it. `answer` says whether the message goes to the
    /// user.
    pub(crate) async fn show_text(&self, speaker: &Speaker, step: u32, text: String, answer: bool) {
        let draft = EventDraft::with_step(speaker, step, EventBody::TextDelta { text, answer });
        let event = self.build_event(draft, self.newest_position(), Timestamp::now());
        self.listener.notify(event).await;
    }

    /// Renews the lease of the session while nothing is written.
    pub(crate) async fn renew_lease(&self) -> Result<(), StoreError> {
        self.journal.renew_claim(&self.claim).await
    }

    fn build_event(&self, draft: EventDraft, seq: u64, at: Timestamp) -> Event {
        draft.into_event(self.claim.session(), self.turn, seq, at)
    }
}
