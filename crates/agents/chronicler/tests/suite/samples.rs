//! Provides a memory with a journal that is written as the runtime writes it, and models for the
//! tests.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use futures_util::stream;
use lango_chronicler::{
    Chronicler, ChroniclerAgent, Memory, MemoryContext, MemoryResources, MemorySettings,
    MemorySystem,
};
use lango_model::{Model, ModelError, ModelEvent, ModelFault, ModelId, ModelRequest, ModelStream};
use lango_protocol::{
    CallId, CallStatus, Event, EventBody, EventId, MessageOrigin, Outcome, OutcomeStatus, Sender,
    SessionId, Space, SpaceAccess, Timestamp, TurnId, WorkDone,
};
use lango_retrieval::{EmbedFuture, Embedder, EmbeddingModel, EmbeddingPurpose, RetrievalIndex};
use lango_store::{Database, DatabaseLocation, Journal, JournalAppend, SessionClaim};
use lango_tool::{ExcludedPaths, ToolContext, ToolError, ToolOutput, ToolRegistry};
use tokio_util::sync::CancellationToken;

/// Makes vectors of hashed words: texts with common words are close to each other.
pub(crate) struct HashedEmbedder {
    model: EmbeddingModel,
    pub(crate) embedded_count: AtomicUsize,
}

impl Embedder for HashedEmbedder {
    fn model(&self) -> &EmbeddingModel {
        &self.model
    }

    fn batch(&self) -> usize {
        16
    }

    fn embed<'a>(&'a self, texts: &'a [String], _: EmbeddingPurpose) -> EmbedFuture<'a> {
        self.embedded_count.fetch_add(texts.len(), Ordering::SeqCst);
        let vectors = texts.iter().map(|text| {
            let mut vector = vec![0.0_f32; 512];
            for word in text.to_lowercase().split(|c: char| !c.is_alphanumeric()) {
                let hash =
                    word.bytes().fold(7_usize, |hash, byte| hash * 31 % 65_521 + usize::from(byte));
                vector[hash % 512] += 1.0;
            }
            let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
            vector.iter().map(|value| value / length.max(0.001)).collect()
        });
        let vectors = Ok(vectors.collect());
        Box::pin(std::future::ready(vectors))
    }
}

/// Represents a model that gives scripted replies, one after the other.
pub(crate) struct ScriptedModel {
    id: ModelId,
    replies: Mutex<VecDeque<String>>,
    pub(crate) requests: Mutex<Vec<String>>,
}

impl ScriptedModel {
    pub(crate) fn new(replies: &[&str]) -> Arc<Self> {
        Arc::new(Self {
            id: ModelId::new("test", "telling"),
            replies: Mutex::new(replies.iter().map(|reply| (*reply).to_owned()).collect()),
            requests: Mutex::default(),
        })
    }

    pub(crate) fn call_count(&self) -> usize {
        self.requests.lock().unwrap().len()
    }
}

impl Model for ScriptedModel {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, request: Arc<ModelRequest>) -> ModelStream {
        self.requests.lock().unwrap().push(format!("{:?}", request.messages));
        let reply = self.replies.lock().unwrap().pop_front();
        let event = reply
            .map(ModelEvent::Text)
            .ok_or_else(|| ModelError::new(ModelFault::Unreachable, "no reply is left"));
        Box::pin(stream::iter([event]))
    }
}

pub(crate) struct Home {
    pub(crate) system: MemorySystem,
    /// The owner's memory.
    pub(crate) memory: Memory,
    pub(crate) journal: Journal,
    pub(crate) database: Database,
    pub(crate) retrieval: RetrievalIndex,
    pub(crate) hashed: Arc<HashedEmbedder>,
}

pub(crate) fn small_settings() -> MemorySettings {
    MemorySettings {
        message_token_threshold: 60,
        observation_token_threshold: 40,
        visible_turns: 2,
        ..MemorySettings::default()
    }
}

impl Home {
    pub(crate) async fn at(location: &DatabaseLocation) -> Self {
        Self::with(location, small_settings()).await
    }

    pub(crate) async fn with(location: &DatabaseLocation, settings: MemorySettings) -> Self {
        Self::open(location, settings, None).await
    }

    /// Opens a memory with a model that writes observations and reflections.
    pub(crate) async fn with_observer(
        location: &DatabaseLocation,
        settings: MemorySettings,
        model: Arc<dyn Model>,
    ) -> Self {
        Self::open(location, settings, Some(model)).await
    }

    async fn open(
        location: &DatabaseLocation,
        settings: MemorySettings,
        observer: Option<Arc<dyn Model>>,
    ) -> Self {
        let database = lango_store::testing::open(location).await;
        let journal = Journal::open(database.clone()).await.unwrap();
        let model = EmbeddingModel { name: "test/hashed".into() };
        let hashed = Arc::new(HashedEmbedder { model, embedded_count: AtomicUsize::new(0) });
        let embedder: Arc<dyn Embedder> = Arc::clone(&hashed) as Arc<dyn Embedder>;
        let retrieval = RetrievalIndex::open(database.clone(), Some(embedder)).await.unwrap();
        let resources =
            MemoryResources { journal: journal.clone(), retrieval: retrieval.clone(), observer };
        let system = MemorySystem::open(settings, resources).await.unwrap();
        let memory = system.in_space(&Space::Owner);
        Self { system, memory, journal, database, retrieval, hashed }
    }

    pub(crate) fn chronicler(&self) -> Chronicler {
        Chronicler::new(self.system.clone())
    }

    /// Does what is due for a session.
    pub(crate) async fn work(&self, session: &SessionId) -> lango_chronicler::ChroniclerReport {
        self.chronicler().work_on_session(session, &CancellationToken::new()).await.unwrap()
    }

    /// Writes finished turns, each with a message of the user.
    pub(crate) async fn play(&self, session: &SessionId, messages: &[&str]) {
        for message in messages {
            let turn = self.begin(session, message).await;
            turn.end("I see.").await;
        }
    }

    /// Begins a turn.
    pub(crate) async fn begin(&self, session: &SessionId, message: &str) -> Turn {
        self.begin_as(&SpaceAccess::to(Space::Owner), session, message).await
    }

    /// Begins a turn of the one whose space it is.
    pub(crate) async fn begin_as(
        &self,
        access: &SpaceAccess,
        session: &SessionId,
        message: &str,
    ) -> Turn {
        let claim = self.journal.claim_session(session, "/w").await.unwrap();
        let mut turn = Turn {
            journal: self.journal.clone(),
            seq: claim.head(),
            claim,
            id: TurnId::generate(),
            access: access.clone(),
        };
        let sender = match access.own() {
            Space::Owner => None,
            Space::Client(caller) => {
                Some(Sender { caller: caller.clone(), message: None, trace: None })
            }
        };
        let (attachment, images, origin) = (None, Vec::new(), MessageOrigin::Run);
        turn.write(
            "user",
            EventBody::UserMessage {
                text: message.into(),
                attachment,
                images,
                origin,
                sender,
                call: None,
            },
        )
        .await;
        turn
    }

    /// Returns the current memories, oldest first.
    pub(crate) async fn current_memories(&self) -> Vec<String> {
        let memories = self.memory.list_memories(false).await.unwrap();
        memories.into_iter().rev().map(|memory| memory.content).collect()
    }

    /// Returns the blocks of a prompt, as one text.
    pub(crate) async fn prompt(&self, session: &SessionId, message: &str) -> String {
        let context = MemoryContext::new(self.system.clone());
        let blocks =
            context.preview_blocks(session, message, &SpaceAccess::to(Space::Owner)).await.unwrap();
        blocks.into_iter().map(|block| format!("<{}>\n{}\n", block.source, block.text)).collect()
    }

    pub(crate) async fn assert_sound(&self) {
        assert_eq!(self.chronicler().check().await.unwrap(), []);
        assert_eq!(self.retrieval.check().await.unwrap(), []);
    }
}

/// Represents a running turn.
pub(crate) struct Turn {
    journal: Journal,
    claim: SessionClaim,
    id: TurnId,
    seq: u64,
    access: SpaceAccess,
}

impl Turn {
    pub(crate) async fn write(&mut self, author: &str, body: EventBody) {
        self.seq += 1;
        let event = Event {
            id: EventId::generate(),
            session: self.claim.session().clone(),
            turn: self.id,
            seq: self.seq,
            at: Timestamp::now(),
            author: Some(author.into()),
            branch: None,
            step: None,
            body,
        };
        let append = JournalAppend { events: vec![event].into(), ..JournalAppend::default() };
        self.journal.append(&self.claim, append).await.unwrap();
    }

    /// Writes a tool call with this output.
    pub(crate) async fn result(&mut self, tool: &str, output: &str) {
        self.output(tool, ToolOutput::from(output.to_owned())).await;
    }

    async fn output(&mut self, tool: &str, output: ToolOutput) {
        let body = EventBody::ToolResult {
            call: CallId::generate(),
            tool: tool.into(),
            status: CallStatus::Ok,
            output: output.text,
            full_output: None,
            report: output.report.map(Arc::new),
            milliseconds: 1,
        };
        self.write("operator", body).await;
    }

    /// Runs a tool of the chronicler in this turn; returns the text for the model.
    pub(crate) async fn call(
        &mut self,
        memory: &MemorySystem,
        tool: &str,
        arguments: &str,
    ) -> Result<String, ToolError> {
        self.run(memory, tool, arguments).await.map(|output| output.text)
    }

    /// Runs a tool of the chronicler in this turn; returns the output for the model and for a
    /// person.
    pub(crate) async fn run(
        &mut self,
        memory: &MemorySystem,
        tool: &str,
        arguments: &str,
    ) -> Result<ToolOutput, ToolError> {
        let mut registry = ToolRegistry::new();
        for tool in ChroniclerAgent::new(memory.clone()).parts().tools {
            registry.add_registered(tool).unwrap();
        }
        let call = CallId::generate();
        let body = EventBody::ToolCall {
            call: call.clone(),
            tool: tool.into(),
            arguments: arguments.into(),
            read_only: false,
        };
        self.write("chronicler", body).await;
        let context = ToolContext {
            session: self.claim.session().clone(),
            turn: self.id,
            call,
            agent: "chronicler".parse().unwrap(),
            space: self.access.clone(),
            cancel: CancellationToken::new(),
            excluded: ExcludedPaths::default(),
        };
        let registered = registry.iter().find(|known| known.name() == tool).unwrap();
        let result = registered.prepare(arguments)?.run(context).await;
        let output = result.clone().unwrap_or_else(|error| error.to_string().into());
        self.output(tool, output).await;
        result
    }

    pub(crate) async fn end(mut self, answer: &str) {
        self.write("chronicler", EventBody::Message { text: answer.into(), answer: true }).await;
        let outcome = Outcome { status: OutcomeStatus::Done, work: WorkDone::default() };
        self.write("lango", EventBody::TurnFinished(outcome)).await;
        self.journal.release_claim(self.claim).await.unwrap();
    }
}

pub(crate) fn session(name: &str) -> SessionId {
    name.parse().unwrap()
}
