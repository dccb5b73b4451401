//! Starts and resumes turns. This is the entry point of the crate.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use lango_keystore::KeyStore;
use lango_model::{Model, ReplyOptions};
use lango_orchestration::AgentTree;
use lango_protocol::{AgentName, Caller, Event, Outcome, OwnerStore, SessionId, Space, TurnId};
use lango_store::{Journal, Statement, StoreError};
use lango_tool::RegisteredTool;
use parking_lot::{Mutex, RwLock};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use crate::context::ContextSource;
use crate::drive::forward_events;
use crate::events_adapter::EventsAdapter;
use crate::handle::log_end;
use crate::live::{Listener, LiveTurnGuard, LiveTurns, TurnControl, TurnSubscription};
use crate::observer::ObserverTasks;
use crate::output::OutputRead;
use crate::remote::RemoteAgent;
use crate::request::TurnRequest;
use crate::retry::FailedTurns;
use crate::session::Sessions;
use crate::team::{AgentFactory, Team};
use crate::{
    Advisor, Approver, RuleBook, Scrubber, Settings, SpendGuard, TurnError, TurnHandle,
    TurnObserver,
};

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
    /// Limits what turns that begin by themselves may spend.
    pub spend_guard: Option<Arc<dyn SpendGuard>>,
    /// Secrets that must not be recorded or shown.
    pub scrubber: Scrubber,
    /// The vault whose values the scrubber learns, also those that other processes store.
    pub key_store: Option<KeyStore>,
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
    pub(crate) live: LiveTurns,
    pub(crate) failed_turns: FailedTurns,
    pub(crate) journal: Journal,
    pub(crate) approver: Arc<dyn Approver>,
    pub(crate) rules: RuleBook,
    pub(crate) context: Vec<Box<dyn ContextSource>>,
    pub(crate) observer_tasks: ObserverTasks,
    pub(crate) advisor: Option<Arc<dyn Advisor>>,
    pub(crate) spend_guard: Option<Arc<dyn SpendGuard>>,
    pub(crate) scrubber: Scrubber,
    pub(crate) key_store: Option<KeyStore>,
    pub(crate) settings: Settings,
    pub(crate) adapter: EventsAdapter,
    pub(crate) workspace: String,
    pub(crate) sessions: Sessions,
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
            failed_turns: FailedTurns::default(),
            journal: parts.journal,
            approver: parts.approver,
            rules: parts.rules,
            context: parts.context,
            observer_tasks: ObserverTasks::new(parts.observers),
            advisor: parts.advisor,
            spend_guard: parts.spend_guard,
            scrubber: parts.scrubber,
            key_store: parts.key_store,
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

    /// Returns the agent of the team that owns a tool; none if no agent has it.
    pub fn find_tool_owner(&self, tool: &str) -> Option<AgentName> {
        self.shared.team().find_tool_owner(tool).cloned()
    }

    /// Tells whether the team has an agent of this name, local or remote.
    pub fn has_agent(&self, name: &str) -> bool {
        let team = self.shared.team();
        team.root.name == *name || team.specialists.iter().any(|one| *one.name() == *name)
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

    /// Tells whether this process runs the turn itself: it does not wait in the queue, and no other
    /// process runs it.
    pub fn is_running_here(&self, turn: TurnId) -> bool {
        self.shared.live.is_running_here(turn)
    }

    /// Tells whether a promised turn may be tried again, if the database did not let it go on.
    pub(crate) fn is_retry_due(&self, turn: TurnId) -> bool {
        self.shared.failed_turns.is_due(turn)
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
        if self.shared.journal.withdraw_turn(turn).await? {
            return Ok(());
        }
        // Waits for the session like a message does.
        let _cache = self.shared.sessions.lock_session(session).await;
        let wait = self.shared.settings.claim_wait;
        let claim = self.shared.claim_session(session, &CancellationToken::new(), wait).await?;
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
        let owner_stores = self.owner_stores.clone();
        let (starter, events) = mpsc::channel(MAX_LISTENER_LAG);
        let control = TurnControl::default();
        let registered = self.shared.live.register(turn, starter, control.clone());
        self.spawn_turn(session, events, control, registered, |shared, listener, control| {
            shared.run_new(request, owner_stores, listener, control)
        })
    }

    /// Returns the statement that queues a turn, for the commit that promises it to a client.
    /// [`Runtime::drive_turn`] runs it afterwards.
    pub async fn promise_turn(&self, request: &TurnRequest) -> Result<Statement, StoreError> {
        self.shared.learn_secrets().await;
        let stored = self.shared.store_request(request)?;
        Ok(Journal::build_queue_entry(&request.session, request.turn, &stored))
    }

    /// Queues a turn that was promised before, unless it is queued or has begun.
    pub async fn promise_again(&self, request: &TurnRequest) -> Result<(), StoreError> {
        self.shared.learn_secrets().await;
        let stored = self.shared.store_request(request)?;
        self.shared.journal.queue_again(&request.session, request.turn, &stored).await
    }

    /// Sees to it that a promised turn comes to its end, whichever process runs it: begins it when it
    /// is the first in the queue, goes on with it if its process died, and follows it otherwise. The
    /// handle yields all its recorded events.
    pub fn drive_turn(&self, session: SessionId, turn: TurnId) -> TurnHandle {
        let (starter, events) = mpsc::channel(MAX_LISTENER_LAG);
        let control = TurnControl::default();
        // It is in the database, and not known to run here.
        control.set_idle(true);
        let listening = starter.clone();
        match self.shared.live.register_once(turn, starter, control.clone()) {
            Ok(registered) => {
                let (id, owner_stores) = (session.clone(), self.owner_stores.clone());
                self.spawn_turn(
                    session,
                    events,
                    control,
                    registered,
                    move |shared, listener, control| {
                        shared.drive(id, turn, owner_stores, listener, control)
                    },
                )
            }
            Err(control) => {
                let subscription = self.follow(session.clone(), turn, 0);
                let task = tokio::spawn(forward_events(subscription, turn, listening));
                TurnHandle { session, turn, events, cancel: control.cancel, task }
            }
        }
    }

    /// Continues a turn that a crash or a kill interrupted.
    pub fn resume_turn(&self, session: SessionId, turn: TurnId) -> TurnHandle {
        let id = session.clone();
        let owner_stores = self.owner_stores.clone();
        let (starter, events) = mpsc::channel(MAX_LISTENER_LAG);
        let control = TurnControl::default();
        let registered = self.shared.live.register(turn, starter, control.clone());
        self.spawn_turn(session, events, control, registered, move |shared, listener, control| {
            let wait = shared.settings.claim_wait;
            shared.run_resumed(id, turn, owner_stores, listener, control, wait)
        })
    }

    fn spawn_turn<F, R>(
        &self,
        session: SessionId,
        events: mpsc::Receiver<Event>,
        control: TurnControl,
        registered: (Listener, LiveTurnGuard),
        run: F,
    ) -> TurnHandle
    where
        F: FnOnce(Arc<SharedRuntime>, Listener, TurnControl) -> R,
        R: Future<Output = Result<Outcome, TurnError>> + Send + 'static,
    {
        let (listener, live_turn) = registered;
        let turn = live_turn.turn();
        let cancel = control.cancel.clone();
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
    /// Lets the scrubber learn what other processes stored in the vault, or unlocked, since.
    pub(crate) async fn learn_secrets(&self) {
        let Some(store) = &self.key_store else { return };
        if let Err(error) = store.refresh_scrubber().await {
            tracing::warn!(%error, "the secrets of the vault are not looked for");
        }
    }

    /// Returns the agents for a turn that starts now.
    pub(crate) fn team(&self) -> Arc<Team> {
        Arc::clone(&self.team.read())
    }

    /// Takes the notices about absent agents.
    pub(crate) fn take_absences(&self) -> Vec<String> {
        std::mem::take(&mut *self.absences.lock())
    }

    /// Sees to it that a promised turn comes to its end, unless this process does so already or tried
    /// it a short time ago.
    pub(crate) fn help_turn(
        self: &Arc<Self>,
        session: &SessionId,
        turn: TurnId,
        owner_stores: &BTreeSet<OwnerStore>,
    ) {
        if !self.live.is_running(turn) && self.failed_turns.is_due(turn) {
            let runtime = Runtime { shared: Arc::clone(self), owner_stores: owner_stores.clone() };
            // It goes on without its handle.
            drop(runtime.drive_turn(session.clone(), turn));
        }
    }
}
