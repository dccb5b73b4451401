//! The one place where a turn writes: events get their position, go to the journal, into the
//! record, and then to whoever listens, in this order.

use std::sync::atomic::{AtomicU64, Ordering};

use lango_protocol::{
    AgentName, CallId, Event, EventBody, EventId, Outcome, OutcomeStatus, RUNTIME, SessionId,
    Timestamp, TurnId,
};
use lango_store::{Append, Claim, Durability, Journal, StoreError, StoredOutput};
use tokio::sync::Mutex;

use crate::live::Listener;
use crate::record::TurnRecord;
use crate::words;

/// A turn that is over.
pub(crate) struct Ended {
    pub(crate) outcome: Outcome,
    /// The position of its last event.
    pub(crate) head: u64,
    /// What later turns may see of it.
    pub(crate) conversation: Vec<Event>,
}

/// Who speaks, and under which hand-over.
#[derive(Debug, Clone)]
pub(crate) struct Voice {
    pub(crate) agent: AgentName,
    pub(crate) branch: Option<CallId>,
}

/// An event before it has its place in the journal.
#[derive(Debug, Clone)]
pub(crate) struct Draft {
    author: String,
    branch: Option<CallId>,
    step: Option<u32>,
    body: EventBody,
}

impl Draft {
    /// Something an agent said or did in one of its model calls.
    pub(crate) fn of(voice: &Voice, step: u32, body: EventBody) -> Self {
        let author = voice.agent.as_str().to_owned();
        Self { author, branch: voice.branch.clone(), step: Some(step), body }
    }

    /// Something that belongs to an agent's part of the turn but to no model call.
    pub(crate) fn beside(voice: &Voice, body: EventBody) -> Self {
        let author = voice.agent.as_str().to_owned();
        Self { author, branch: voice.branch.clone(), step: None, body }
    }

    /// Something the runtime did in a branch.
    pub(crate) fn runtime(branch: Option<&CallId>, body: EventBody) -> Self {
        Self { author: RUNTIME.to_owned(), branch: branch.cloned(), step: None, body }
    }

    /// What the user said.
    pub(crate) fn user(body: EventBody) -> Self {
        Self { author: lango_protocol::USER.to_owned(), branch: None, step: None, body }
    }

    /// The event, at its place in the journal.
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

/// What goes with a write.
#[derive(Debug, Default)]
pub(crate) struct Along {
    pub(crate) outputs: Vec<StoredOutput>,
    pub(crate) durability: Durability,
    /// Gives the session back; nothing can be written after it.
    pub(crate) release: bool,
}

#[derive(Default)]
struct State {
    record: TurnRecord,
    /// What later turns may see of this one.
    conversation: Vec<Event>,
}

impl State {
    fn apply(&mut self, event: &Event) {
        self.record.apply(event);
        let seen_later = matches!(
            event.body,
            EventBody::UserMessage { .. }
                | EventBody::Message { answer: true, .. }
                | EventBody::Transfer { .. }
                | EventBody::TransferFinished { .. }
        );
        if seen_later {
            self.conversation.push(event.clone());
        }
    }
}

/// Writes one turn.
pub(crate) struct Recorder {
    journal: Journal,
    claim: Claim,
    turn: TurnId,
    /// Held across the append, because parallel branches must not interleave within a batch and
    /// positions must reach the journal in order.
    state: Mutex<State>,
    head: AtomicU64,
    listener: Listener,
}

impl Recorder {
    pub(crate) fn new(
        journal: Journal,
        claim: Claim,
        turn: TurnId,
        earlier: &[Event],
        listener: Listener,
    ) -> Self {
        let head = AtomicU64::new(claim.head());
        let mut state = State::default();
        for event in earlier {
            state.apply(event);
        }
        Self { journal, claim, turn, state: Mutex::new(state), head, listener }
    }

    pub(crate) fn session(&self) -> &SessionId {
        self.claim.session()
    }

    pub(crate) fn turn(&self) -> TurnId {
        self.turn
    }

    /// The position of the newest event.
    pub(crate) fn head(&self) -> u64 {
        self.head.load(Ordering::Acquire)
    }

    /// Looks at the record.
    pub(crate) async fn look<T>(&self, look: impl FnOnce(&TurnRecord) -> T) -> T {
        look(&self.state.lock().await.record)
    }

    /// Changes what of the record is not in the journal: the count of model calls under way.
    pub(crate) async fn change<T>(&self, change: impl FnOnce(&mut TurnRecord) -> T) -> T {
        change(&mut self.state.lock().await.record)
    }

    /// Writes events, all or none, and tells the listener.
    pub(crate) async fn record(&self, drafts: Vec<Draft>) -> Result<(), StoreError> {
        self.record_along(drafts, Along::default()).await
    }

    /// Writes events together with something else.
    pub(crate) async fn record_along(
        &self,
        drafts: Vec<Draft>,
        along: Along,
    ) -> Result<(), StoreError> {
        let mut state = self.state.lock().await;
        let at = Timestamp::now();
        let events = self.place(drafts, at);
        for event in &events {
            state.apply(event);
        }
        self.write(&events, along).await?;
        self.tell(events).await;
        Ok(())
    }

    /// Writes the end of the turn: `drafts`, the words for the user where no agent had any, and
    /// the outcome; and gives the session back.
    pub(crate) async fn record_end(
        &self,
        drafts: Vec<Draft>,
        status: OutcomeStatus,
    ) -> Result<Ended, StoreError> {
        let mut state = self.state.lock().await;
        let at = Timestamp::now();
        let answered = drafts
            .iter()
            .any(|draft| matches!(draft.body, EventBody::Message { answer: true, .. }));
        let mut events = self.place(drafts, at);
        for event in &events {
            state.apply(event);
        }
        state.record.pass_time_to(at);
        let mut last = state.record.close_delegations(&status);
        let outcome = Outcome { status, work: state.record.work() };
        if !answered {
            let text = words::account(&outcome);
            last.push(EventBody::Message { text, answer: true });
        }
        last.push(EventBody::TurnFinished(outcome.clone()));
        let seq = self.head() + events.len() as u64;
        for (body, seq) in last.into_iter().zip(seq + 1..) {
            let event = self.event(Draft::runtime(None, body), seq, at);
            state.apply(&event);
            events.push(event);
        }
        let along = Along { release: true, ..Along::default() };
        self.write(&events, along).await?;
        self.tell(events).await;
        let conversation = std::mem::take(&mut state.conversation);
        Ok(Ended { outcome, head: self.head(), conversation })
    }

    /// Gives each draft its position.
    fn place(&self, drafts: Vec<Draft>, at: Timestamp) -> Vec<Event> {
        let positions = self.head() + 1..;
        drafts.into_iter().zip(positions).map(|(draft, seq)| self.event(draft, seq, at)).collect()
    }

    async fn write(&self, events: &[Event], along: Along) -> Result<(), StoreError> {
        let append = Append {
            events: events.into(),
            outputs: along.outputs,
            durability: along.durability,
            release: along.release,
        };
        self.journal.append(&self.claim, append).await?;
        self.head.store(self.head() + events.len() as u64, Ordering::Release);
        Ok(())
    }

    /// Tells the listener of events that are written.
    pub(crate) async fn tell(&self, events: Vec<Event>) {
        for event in events {
            self.listener.tell(event).await;
        }
    }

    /// Shows a piece of a message without writing it. `answer` says whether the message goes to the
    /// user.
    pub(crate) async fn show(&self, voice: &Voice, step: u32, text: String, answer: bool) {
        let draft = Draft::of(voice, step, EventBody::TextDelta { text, answer });
        let event = self.event(draft, self.head(), Timestamp::now());
        self.listener.tell(event).await;
    }

    /// Keeps the session while nothing is written.
    pub(crate) async fn renew(&self) -> Result<(), StoreError> {
        self.journal.renew(&self.claim).await
    }

    fn event(&self, draft: Draft, seq: u64, at: Timestamp) -> Event {
        draft.into_event(self.claim.session(), self.turn, seq, at)
    }
}
