//! The front door: messages in, turns out.

use std::sync::Arc;

use lango_model::Model;
use lango_orchestration::{AgentTree, Root, SubAgentKind};
use lango_protocol::{
    AgentName, Event, EventBody, Origin, Outcome, SessionId, Timestamp, TurnId, WarningCode,
};
use lango_store::{Claim, Journal};
use lango_tool::RegisteredTool;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::context::ContextSource;
use crate::events_adapter::EventsAdapter;
use crate::output::OutputRead;
use crate::record::TurnRecord;
use crate::recorder::{Draft, Recorder};
use crate::session::{self, Memory, Sessions};
use crate::turn::Turn;
use crate::{Approver, Scrubber, Settings, TurnError, TurnHandle};

/// What a runtime is made of. The wiring hands it in.
pub struct RuntimeParts {
    /// The agents.
    pub tree: AgentTree,
    /// The model all agents use.
    pub model: Arc<dyn Model>,
    /// Where everything is written.
    pub journal: Journal,
    /// Who is asked before something dangerous.
    pub approver: Arc<dyn Approver>,
    /// What agents are told beside their instructions.
    pub context: Vec<Box<dyn ContextSource>>,
    /// Secrets that must not be recorded or shown.
    pub scrubber: Scrubber,
    /// Limits.
    pub settings: Settings,
    /// The directory the session belongs to, for lists.
    pub workspace: String,
}

/// A message for an agent.
#[derive(Debug, Clone)]
pub struct TurnRequest {
    /// The conversation it belongs to.
    pub session: SessionId,
    /// What the user typed.
    pub text: String,
    /// What came with it.
    pub attachment: Option<String>,
    /// Through which door.
    pub origin: Origin,
}

/// Runs turns. Clones share everything.
#[derive(Clone)]
pub struct Runtime {
    shared: Arc<Shared>,
}

/// An agent, ready to be asked.
pub(crate) struct Agent {
    pub(crate) name: AgentName,
    pub(crate) system_prompt: Arc<str>,
    pub(crate) tools: Vec<Arc<RegisteredTool>>,
    pub(crate) model: Arc<dyn Model>,
}

impl Agent {
    /// Its tool of exactly this name.
    pub(crate) fn tool(&self, name: &str) -> Option<&Arc<RegisteredTool>> {
        self.tools.iter().find(|tool| tool.name() == name)
    }

    /// Whether it has nothing but its model: it plans, and others act.
    pub(crate) fn only_thinks(&self) -> bool {
        self.tools.is_empty()
    }
}

/// What all turns share.
pub(crate) struct Shared {
    pub(crate) root: Agent,
    /// The specialists, in the order of the tree.
    pub(crate) specialists: Vec<Agent>,
    pub(crate) round_limit: u32,
    pub(crate) journal: Journal,
    pub(crate) approver: Arc<dyn Approver>,
    pub(crate) context: Vec<Box<dyn ContextSource>>,
    pub(crate) scrubber: Scrubber,
    pub(crate) settings: Settings,
    adapter: EventsAdapter,
    workspace: String,
    sessions: Sessions,
}

/// Events a listener may lag behind before the turn waits for it.
const LISTENER_LAG: usize = 1024;

impl Runtime {
    /// Puts the parts together.
    pub fn new(parts: RuntimeParts) -> Self {
        let output_read =
            Arc::new(RegisteredTool::new(OutputRead { journal: parts.journal.clone() }));
        let agent = |name: &AgentName, prompt: &Arc<str>, tools: &[Arc<RegisteredTool>]| {
            let mut tools = tools.to_vec();
            // Every agent that has tools can read what was too long to show.
            if !tools.is_empty() {
                tools.push(Arc::clone(&output_read));
            }
            Agent {
                name: name.clone(),
                system_prompt: Arc::clone(prompt),
                tools,
                model: Arc::clone(&parts.model),
            }
        };
        let mut settings = parts.settings;
        let (root, specialists) = match &parts.tree.root {
            Root::Single(single) => {
                (agent(&single.name, &single.system_prompt, &single.tools), Vec::new())
            }
            Root::Team(team) => {
                settings.limits.delegation_rounds = team.max_delegation_rounds;
                let local = team.sub_agents.iter().filter_map(|sub| match &sub.kind {
                    SubAgentKind::Local { tools } => {
                        Some(agent(&sub.name, &sub.system_prompt, tools))
                    }
                    SubAgentKind::Remote => None,
                });
                (agent(&team.name, &team.system_prompt, &[]), local.collect())
            }
        };
        let shared = Shared {
            adapter: EventsAdapter::new(root.name.clone()),
            root,
            specialists,
            round_limit: settings.limits.delegation_rounds,
            journal: parts.journal,
            approver: parts.approver,
            context: parts.context,
            scrubber: parts.scrubber,
            settings,
            workspace: parts.workspace,
            sessions: Sessions::default(),
        };
        Self { shared: Arc::new(shared) }
    }

    /// The journal, for those who list and export.
    pub fn journal(&self) -> &Journal {
        &self.shared.journal
    }

    /// Starts a turn. A second one in the same session waits until the first is over.
    pub fn start_turn(&self, request: TurnRequest) -> TurnHandle {
        let turn = TurnId::generate();
        let session = request.session.clone();
        self.spawn(session, turn, |shared, listener, cancel| async move {
            shared.run_new(turn, request, listener, cancel).await
        })
    }

    /// Goes on with a turn that a crash or a kill interrupted.
    pub fn resume_turn(&self, session: SessionId, turn: TurnId) -> TurnHandle {
        let id = session.clone();
        self.spawn(session, turn, move |shared, listener, cancel| async move {
            shared.run_resumed(id, turn, listener, cancel).await
        })
    }

    fn spawn<F, R>(&self, session: SessionId, turn: TurnId, run: F) -> TurnHandle
    where
        F: FnOnce(Arc<Shared>, mpsc::Sender<Event>, CancellationToken) -> R,
        R: Future<Output = Result<Outcome, TurnError>> + Send + 'static,
    {
        let (listener, events) = mpsc::channel(LISTENER_LAG);
        let cancel = CancellationToken::new();
        let task = tokio::spawn(run(Arc::clone(&self.shared), listener, cancel.clone()));
        TurnHandle { session, turn, events, cancel, task }
    }
}

impl Shared {
    /// A specialist by name.
    pub(crate) fn specialist(&self, name: &AgentName) -> Option<&Agent> {
        self.specialists.iter().find(|agent| agent.name == *name)
    }

    async fn run_new(
        self: Arc<Self>,
        turn: TurnId,
        request: TurnRequest,
        listener: mpsc::Sender<Event>,
        cancel: CancellationToken,
    ) -> Result<Outcome, TurnError> {
        let mut memory = self.sessions.enter(&request.session).await;
        let session = &request.session;
        let message = Draft::user(EventBody::UserMessage {
            text: self.scrubber.scrub(&request.text).into_owned(),
            attachment: request.attachment.map(|text| self.scrubber.scrub(&text).into_owned()),
            origin: request.origin,
        });
        let known = memory.head;
        // In a session whose state is known the message is written along with the claim.
        let (claim, first) = self
            .claim_with(session, &cancel, |head| {
                let event =
                    || message.clone().into_event(session, turn, head + 1, Timestamp::now());
                (head == known).then(event).into_iter().collect()
            })
            .await?;
        if !first.is_empty() {
            let turns = Arc::clone(&memory.turns);
            let recorder = Recorder::new(self.journal.clone(), claim, turn, &first, listener);
            recorder.tell(first).await;
            let turn = Turn::new(Arc::clone(&self), recorder, turns, cancel);
            return self.finish(turn, &mut memory).await;
        }
        let claim = self.close_unfinished(claim).await?;
        self.remember(&claim, &mut memory).await?;
        let turns = Arc::clone(&memory.turns);
        let recorder = Recorder::new(self.journal.clone(), claim, turn, &[], listener);
        recorder.record(vec![message]).await?;
        self.finish(Turn::new(Arc::clone(&self), recorder, turns, cancel), &mut memory).await
    }

    async fn run_resumed(
        self: Arc<Self>,
        session: SessionId,
        turn: TurnId,
        listener: mpsc::Sender<Event>,
        cancel: CancellationToken,
    ) -> Result<Outcome, TurnError> {
        let mut memory = self.sessions.enter(&session).await;
        let claim = self.claim(&session, &cancel).await?;
        let events = self.journal.turn_events(&session, turn).await?;
        let record = TurnRecord::from_events(&events);
        if events.is_empty() || record.outcome().is_some() {
            self.journal.release(claim).await?;
            return Err(TurnError::NothingToResume(turn));
        }
        self.remember(&claim, &mut memory).await?;
        let turns = Arc::clone(&memory.turns);
        let recorder = Recorder::new(self.journal.clone(), claim, turn, &events, listener);
        let text = "this turn was interrupted and goes on".to_owned();
        let resumed = EventBody::Warning { code: WarningCode::Resumed, text };
        recorder.record(vec![Draft::runtime(None, resumed)]).await?;
        let turn = Turn::new(Arc::clone(&self), recorder, turns, cancel);
        turn.close_interrupted_calls().await?;
        self.finish(turn, &mut memory).await
    }

    /// Runs the turn and keeps the conversation for the next one.
    async fn finish(&self, turn: Turn, memory: &mut Memory) -> Result<Outcome, TurnError> {
        let ended = turn.run().await?;
        let mut turns = Vec::clone(&memory.turns);
        turns.extend(self.adapter.past_turns(&ended.conversation));
        let surplus = turns.len().saturating_sub(self.settings.history_turns as usize);
        turns.drain(..surplus);
        *memory = Memory { head: ended.head, turns: Arc::new(turns) };
        Ok(ended.outcome)
    }

    async fn claim(
        &self,
        session: &SessionId,
        cancel: &CancellationToken,
    ) -> Result<Claim, TurnError> {
        self.claim_with(session, cancel, |_| Vec::new()).await.map(|(claim, _)| claim)
    }

    async fn claim_with(
        &self,
        session: &SessionId,
        cancel: &CancellationToken,
        first: impl Fn(u64) -> Vec<Event>,
    ) -> Result<(Claim, Vec<Event>), TurnError> {
        let wait = self.settings.claim_wait;
        session::claim(&self.journal, session, &self.workspace, wait, cancel, first).await
    }

    /// Reads the conversation, unless it is known and nobody else has written since.
    async fn remember(&self, claim: &Claim, memory: &mut Memory) -> Result<(), TurnError> {
        if memory.head == claim.head() {
            return Ok(());
        }
        let limit = self.settings.history_turns;
        let events = self.journal.conversation(claim.session(), limit).await?;
        let turns = Arc::new(self.adapter.past_turns(&events));
        *memory = Memory { head: claim.head(), turns };
        Ok(())
    }

    /// Ends turns of this session that a crash interrupted and that nobody resumed, so that the
    /// journal never has two turns under way.
    async fn close_unfinished(self: &Arc<Self>, mut claim: Claim) -> Result<Claim, TurnError> {
        let session = claim.session().clone();
        for unfinished in self.journal.unfinished_turns(Some(&session)).await? {
            let events = self.journal.turn_events(&session, unfinished.turn).await?;
            let (listener, _) = mpsc::channel(1);
            let recorder =
                Recorder::new(self.journal.clone(), claim, unfinished.turn, &events, listener);
            recorder.change(TurnRecord::stop_clock).await;
            let cancelled = CancellationToken::new();
            cancelled.cancel();
            let turn = Turn::new(Arc::clone(self), recorder, Arc::default(), cancelled);
            turn.close_interrupted_calls().await?;
            turn.run().await?;
            claim = self.claim(&session, &CancellationToken::new()).await?;
        }
        Ok(claim)
    }
}
