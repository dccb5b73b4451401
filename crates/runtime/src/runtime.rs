//! Starts and resumes turns. This is the entry point of the crate.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lango_model::{Model, ReplyOptions, UserMessage};
use lango_orchestration::AgentTree;
use lango_protocol::{
    AgentName, Caller, DirectCall, Event, EventBody, Outcome, OwnerStore, SessionId, Space,
    SpaceAccess, Timestamp, TurnId, WarningCode,
};
use lango_store::{Journal, SessionClaim};
use lango_tool::RegisteredTool;
use parking_lot::{Mutex, RwLock};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::context::ContextSource;
use crate::events_adapter::EventsAdapter;
use crate::handle::log_end;
use crate::images::{load_images, store_images};
use crate::live::{Listener, LiveTurns, TurnControl, TurnSubscription};
use crate::observer::{FinishedTurn, ObserverTasks};
use crate::output::OutputRead;
use crate::record::TurnRecord;
use crate::recorder::{EventDraft, Recorder, WriteOptions};
use crate::remote::RemoteAgent;
use crate::request::{TurnInput, TurnRequest};
use crate::session::{self, SessionCache, Sessions};
use crate::team::{AgentFactory, Team};
use crate::turn::Turn;
use crate::{Advisor, Approver, RuleBook, Scrubber, Settings, TurnError, TurnHandle, TurnObserver};

/// Holds the parts of a runtime, which the application provides.
pub struct RuntimeParts {
    /// The agents.
    pub tree: AgentTree,
    /// The model of every agent that has none of its own.
    pub model: AgentModel,
    /// The models of single agents.
    pub agent_models: BTreeMap<AgentName, AgentModel>,
    /// The journal that all events are written to.
    pub journal: Journal,
    /// The approver that is asked before dangerous calls.
    pub approver: Arc<dyn Approver>,
    /// The approval rules.
    pub rules: RuleBook,
    /// The sources of context that agents get in addition to their instructions.
    pub context: Vec<Box<dyn ContextSource>>,
    /// The observers that are called when a turn has ended.
    pub observers: Vec<Arc<dyn TurnObserver>>,
    /// The source of advice about calls that failed before.
    pub advisor: Option<Arc<dyn Advisor>>,
    /// Secrets that must not be recorded or shown.
    pub scrubber: Scrubber,
    /// The limits.
    pub settings: Settings,
    /// The directory that sessions belong to, for lists.
    pub workspace: String,
    /// The connections to the remote agents of the tree.
    pub remote_agents: BTreeMap<AgentName, Arc<dyn RemoteAgent>>,
}

/// Holds the model of an agent and its options.
#[derive(Clone)]
pub struct AgentModel {
    /// The model, or a chain of them.
    pub model: Arc<dyn Model>,
    /// The options of its requests.
    pub options: ReplyOptions,
}

/// Runs turns. Clones share everything.
#[derive(Clone)]
pub struct Runtime {
    shared: Arc<SharedRuntime>,
    /// The owner's stores that turns of API clients may read.
    owner_stores: BTreeSet<OwnerStore>,
}

/// Holds what all turns share.
pub(crate) struct SharedRuntime {
    /// The agents of the next turn. The lock is held only to copy a pointer.
    team: RwLock<Arc<Team>>,
    agent_factory: AgentFactory,
    /// Notices about absent agents, shown with the next turn. The lock is held only to add or take.
    absences: Mutex<Vec<String>>,
    live: LiveTurns,
    pub(crate) journal: Journal,
    pub(crate) approver: Arc<dyn Approver>,
    pub(crate) rules: RuleBook,
    pub(crate) context: Vec<Box<dyn ContextSource>>,
    observer_tasks: ObserverTasks,
    pub(crate) advisor: Option<Arc<dyn Advisor>>,
    pub(crate) scrubber: Scrubber,
    pub(crate) settings: Settings,
    adapter: EventsAdapter,
    pub(crate) workspace: String,
    sessions: Sessions,
}

/// Limits the events that a listener may lag behind before the turn waits for it.
const MAX_LISTENER_LAG: usize = 1024;

/// Limits the notices that wait for the next turn.
const MAX_ABSENCE_COUNT: usize = 100;

impl Runtime {
    /// Creates a runtime from its parts.
    pub fn new(parts: RuntimeParts) -> Self {
        let output_read =
            Arc::new(RegisteredTool::new(OutputRead { journal: parts.journal.clone() }));
        let agent_factory =
            AgentFactory { model: parts.model, agent_models: parts.agent_models, output_read };
        let team = agent_factory.create_team(&parts.tree, &parts.remote_agents);
        let mut settings = parts.settings;
        if let Some(rounds) = team.round_limit {
            settings.limits.delegation_rounds = rounds;
        }
        let shared = SharedRuntime {
            adapter: EventsAdapter::new(team.root.name.clone()),
            team: RwLock::new(Arc::new(team)),
            agent_factory,
            absences: Mutex::default(),
            live: LiveTurns::default(),
            journal: parts.journal,
            approver: parts.approver,
            rules: parts.rules,
            context: parts.context,
            observer_tasks: ObserverTasks::new(parts.observers),
            advisor: parts.advisor,
            scrubber: parts.scrubber,
            settings,
            workspace: parts.workspace,
            sessions: Sessions::default(),
        };
        Self { shared: Arc::new(shared), owner_stores: BTreeSet::new() }
    }

    /// Lets the turns of API clients that are started with this handle read some of the owner's
    /// stores.
    #[must_use]
    pub fn with_owner_stores(self, owner_stores: BTreeSet<OwnerStore>) -> Self {
        Self { owner_stores, ..self }
    }

    /// Returns the journal, for lists and exports.
    pub fn journal(&self) -> &Journal {
        &self.shared.journal
    }

    /// Waits until all observers of the turns so far have finished and returns their failures.
    pub async fn wait_for_observers(&self) -> Vec<String> {
        self.shared.observer_tasks.wait_until_finished().await
    }

    /// Replaces the agents from the next turn on, because tools or remote agents were added or
    /// removed.
    pub fn replace_team(
        &self,
        tree: &AgentTree,
        remote_agents: &BTreeMap<AgentName, Arc<dyn RemoteAgent>>,
    ) {
        let team = Arc::new(self.shared.agent_factory.create_team(tree, remote_agents));
        *self.shared.team.write() = team;
    }

    /// Tells the user with the next turn that an agent is not in the team. The notice is shown once
    /// and recorded.
    pub fn tell_absence(&self, text: String) {
        let mut absences = self.shared.absences.lock();
        if absences.len() < MAX_ABSENCE_COUNT {
            absences.push(text);
        }
    }

    /// Follows a turn, in this process or another, from after a position of the journal. An
    /// interrupted turn is followed until it is resumed or closed.
    pub fn follow(&self, session: SessionId, turn: TurnId, after: u64) -> TurnSubscription {
        let journal = self.shared.journal.clone();
        TurnSubscription::new(journal, self.shared.live.clone(), session, turn, after)
    }

    /// Tells whether this runtime runs the turn.
    pub fn is_under_way(&self, turn: TurnId) -> bool {
        self.shared.live.is_running(turn)
    }

    /// Returns the number of turns that it runs.
    pub fn turns_under_way(&self) -> usize {
        self.shared.live.count()
    }

    /// Stops a turn, whichever client started it. A turn that no process runs is closed.
    pub async fn cancel_turn(&self, session: &SessionId, turn: TurnId) -> Result<(), TurnError> {
        if self.shared.live.cancel(turn) {
            return Ok(());
        }
        // Waits for the session like a message does.
        let _cache = self.shared.sessions.lock_session(session).await;
        let claim = self.shared.claim_session(session, &CancellationToken::new()).await?;
        let claim = self.shared.close_unfinished(claim).await?;
        self.shared.journal.release_claim(claim).await?;
        Ok(())
    }

    /// Stops the running turns of an API client that has no access any more. Each is recorded as
    /// cancelled, with the reason.
    pub fn revoke_turns(&self, caller: &Caller, reason: &str) -> usize {
        self.shared.live.revoke(&Space::Client(caller.clone()), reason)
    }

    /// Starts a turn. A second one in the same session waits until the first is over.
    pub fn start_turn(&self, request: TurnRequest) -> TurnHandle {
        let turn = request.turn;
        let session = request.session.clone();
        let space = SpaceAccess::to(Space::of_sender(request.sender.as_ref()))
            .with_owner_stores(self.owner_stores.clone());
        self.spawn_turn(session, turn, |shared, listener, control| async move {
            control.set_space(space.own());
            shared.run_new(turn, request, space, listener, control).await
        })
    }

    /// Continues a turn that a crash or a kill interrupted.
    pub fn resume_turn(&self, session: SessionId, turn: TurnId) -> TurnHandle {
        let id = session.clone();
        let owner_stores = self.owner_stores.clone();
        self.spawn_turn(session, turn, move |shared, listener, control| async move {
            shared.run_resumed(id, turn, owner_stores, listener, control).await
        })
    }

    fn spawn_turn<F, R>(&self, session: SessionId, turn: TurnId, run: F) -> TurnHandle
    where
        F: FnOnce(Arc<SharedRuntime>, Listener, TurnControl) -> R,
        R: Future<Output = Result<Outcome, TurnError>> + Send + 'static,
    {
        let (starter, events) = mpsc::channel(MAX_LISTENER_LAG);
        let control = TurnControl::default();
        let cancel = control.cancel.clone();
        let (listener, live_turn) = self.shared.live.register(turn, starter, control.clone());
        // A turn is a large future, which is moved several times on its way to the scheduler.
        let running = Box::pin(run(Arc::clone(&self.shared), listener, control));
        let span = tracing::info_span!("turn", %session, %turn);
        let logged = async move {
            let outcome = running.await;
            drop(live_turn);
            log_end(&outcome);
            outcome
        };
        let task = tokio::spawn(logged.instrument(span));
        TurnHandle { session, turn, events, cancel, task }
    }
}

impl SharedRuntime {
    /// Returns the agents for a turn that starts now.
    pub(crate) fn team(&self) -> Arc<Team> {
        Arc::clone(&self.team.read())
    }

    async fn run_new(
        self: Arc<Self>,
        turn: TurnId,
        request: TurnRequest,
        space: SpaceAccess,
        listener: Listener,
        control: TurnControl,
    ) -> Result<Outcome, TurnError> {
        let mut cache = self.sessions.lock_session(&request.session).await;
        self.drop_cache_after_redaction(&mut cache);
        let session = &request.session;
        let scrub = |text: &str| self.scrubber.scrub(text).into_owned();
        let (message, call) = match request.input {
            TurnInput::Message(message) => (message, None),
            TurnInput::Call(call) => {
                let call = DirectCall { arguments: scrub(&call.arguments), ..call };
                (UserMessage::new(format!("{} {}", call.tool, call.arguments)), Some(call))
            }
        };
        let (images, stored) = store_images(turn, &message.images);
        let first_message = EventDraft::of_user(EventBody::UserMessage {
            text: scrub(&message.text),
            attachment: message.attachment.as_deref().map(scrub),
            images,
            origin: request.origin,
            sender: request.sender,
            call,
        });
        let known = cache.head;
        // If the cache is current, the message is written together with the claim, unless it has
        // images to store.
        let at_once = stored.is_empty();
        let (claim, first) = self
            .claim_with(session, &control.cancel, |head| {
                let event =
                    || first_message.clone().into_event(session, turn, head + 1, Timestamp::now());
                (at_once && head == known).then(event).into_iter().collect()
            })
            .await?;
        if !first.is_empty() {
            let turns = Arc::clone(&cache.turns);
            let recorder = Recorder::new(self.journal.clone(), claim, turn, &first, listener);
            recorder.notify(first).await;
            let turn = Turn::new(Arc::clone(&self), recorder, turns, Vec::new(), control, space);
            return self.run_and_cache(turn, &mut cache).await;
        }
        let claim = self.close_unfinished(claim).await?;
        self.refresh_cache(&claim, &mut cache).await?;
        let turns = Arc::clone(&cache.turns);
        let recorder = Recorder::new(self.journal.clone(), claim, turn, &[], listener);
        let options = WriteOptions { outputs: stored, ..WriteOptions::default() };
        recorder.record_with(vec![first_message], options).await?;
        let turn = Turn::new(Arc::clone(&self), recorder, turns, message.images, control, space);
        self.run_and_cache(turn, &mut cache).await
    }

    async fn run_resumed(
        self: Arc<Self>,
        session: SessionId,
        turn: TurnId,
        owner_stores: BTreeSet<OwnerStore>,
        listener: Listener,
        control: TurnControl,
    ) -> Result<Outcome, TurnError> {
        let mut cache = self.sessions.lock_session(&session).await;
        self.drop_cache_after_redaction(&mut cache);
        let claim = self.claim_session(&session, &control.cancel).await?;
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
        let absences = std::mem::take(&mut *self.absences.lock());
        if !absences.is_empty() {
            let warning = |text| EventBody::Warning { code: WarningCode::AgentAbsent, text };
            let drafts =
                absences.into_iter().map(|text| EventDraft::of_runtime(None, warning(text)));
            turn.recorder.record(drafts.collect()).await?;
        }
        let is_direct_call = turn.is_direct_call().await;
        let space = turn.space.own().clone();
        let ended = turn.run().await?;
        let mut turns = Vec::clone(&cache.turns);
        turns.extend(self.adapter.past_turns(&ended.conversation()));
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

    async fn claim_session(
        &self,
        session: &SessionId,
        cancel: &CancellationToken,
    ) -> Result<SessionClaim, TurnError> {
        self.claim_with(session, cancel, |_| Vec::new()).await.map(|(claim, _)| claim)
    }

    async fn claim_with(
        &self,
        session: &SessionId,
        cancel: &CancellationToken,
        first: impl Fn(u64) -> Vec<Event>,
    ) -> Result<(SessionClaim, Vec<Event>), TurnError> {
        let wait = self.settings.claim_wait;
        session::claim_with_wait(&self.journal, session, &self.workspace, wait, cancel, first).await
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
        let events = self.journal.read_conversation(claim.session(), visible).await?;
        let turns = Arc::new(self.adapter.past_turns(&events));
        let redactions = cache.redactions;
        *cache = SessionCache { head: claim.head(), finished, turns, redactions };
        Ok(())
    }

    /// Ends turns of this session that a crash interrupted and that were not resumed, so that the
    /// journal never has two open turns.
    async fn close_unfinished(
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
            turn.run().await?;
            claim = self.claim_session(&session, &CancellationToken::new()).await?;
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
