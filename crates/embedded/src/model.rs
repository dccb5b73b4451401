//! Implements the model: it passes a request to the module that answers it.

use std::sync::Arc;

use futures_util::StreamExt as _;
use lango_model::{
    Message, Model, ModelError, ModelEvent, ModelFault, ModelId, ModelRequest, ModelStream,
    RequestRole, RequestedCall,
};
use lango_protocol::{ORCHESTRATOR, TRANSFER_TOOL, Usage};
use lango_tool::ToolDeclaration;

use super::conversation::{AnswerJudge, Conversation, asked_parameter};
use super::decision::{RequestMeaning, WeightedMeanings};
use super::orchestrator::Orchestrator;
use super::reading::RequestReader;
use super::specialist::Specialist;
use super::steps::RequestStructure;
use super::surroundings::{NoSurroundings, Surroundings};
use super::thresholds::{NEW_REQUEST, NEW_SHORT_REQUEST};
use super::{talk, weights};

/// Names the provider.
pub const EMBEDDED: &str = "embedded";

/// The embedded model.
#[derive(Debug)]
pub struct EmbeddedModel {
    id: ModelId,
    surroundings: Arc<dyn Surroundings>,
}

impl EmbeddedModel {
    /// Makes the model. Its weights are loaded when it is first asked.
    pub fn new() -> Self {
        Self::with_surroundings(Arc::new(NoSurroundings))
    }

    /// Makes a model that knows what the names in a request can mean.
    pub fn with_surroundings(surroundings: Arc<dyn Surroundings>) -> Self {
        Self { id: embedded_id(), surroundings }
    }

    /// Loads the weights now. Otherwise the first request does.
    pub fn load(&self) {
        RequestReader::shared();
    }

    /// Returns the size of its own weights in bytes. The vocabulary and its vectors are those of
    /// the encoder.
    pub fn weights_size() -> usize {
        weights::file_size()
    }
}

impl Default for EmbeddedModel {
    fn default() -> Self {
        Self::new()
    }
}

impl Model for EmbeddedModel {
    fn id(&self) -> &ModelId {
        &self.id
    }

    fn stream(&self, request: Arc<ModelRequest>) -> ModelStream {
        let id = self.id.clone();
        let surroundings = Arc::clone(&self.surroundings);
        let decided = async move {
            // Some milliseconds of computation must not block an async thread.
            let answer = move || answer_request(&request, &*surroundings);
            match tokio::task::spawn_blocking(answer).await {
                Ok(reply) => stream_reply(id, reply),
                Err(error) => {
                    let error = ModelError::new(ModelFault::Malformed, error.to_string());
                    Box::pin(futures_util::stream::iter([Err(error)])) as ModelStream
                }
            }
        };
        Box::pin(futures_util::stream::once(decided).flatten())
    }
}

pub(crate) fn embedded_id() -> ModelId {
    ModelId::new(EMBEDDED, "")
}

/// Is what the model returns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum EmbeddedReply {
    Text(String),
    Call(RequestedCall),
    /// A call, and those that follow when it has done what it should.
    FirstCall {
        call: RequestedCall,
        rest: String,
    },
}

pub(crate) fn stream_reply(id: ModelId, reply: EmbeddedReply) -> ModelStream {
    let mut events = vec![ModelEvent::Answering(id)];
    match reply {
        EmbeddedReply::Text(text) => events.push(ModelEvent::Text(text)),
        EmbeddedReply::Call(call) => events.push(ModelEvent::Call(call)),
        EmbeddedReply::FirstCall { call, rest } => {
            events.extend([ModelEvent::Call(call), ModelEvent::ProviderState(rest)]);
        }
    }
    // Tokens are not counted here, and nothing is paid.
    events.push(ModelEvent::Usage(Usage::default()));
    Box::pin(futures_util::stream::iter(events.into_iter().map(Ok)))
}

/// Answers a request.
pub(crate) fn answer_request(
    request: &ModelRequest,
    surroundings: &dyn Surroundings,
) -> EmbeddedReply {
    let reader = RequestReader::shared();
    let conversation = read_conversation(reader, request);
    let can_do_nothing = request.tools.is_empty() && conversation.done.is_empty();
    match request.role {
        RequestRole::Planner => EmbeddedReply::Text(render_plan(&conversation)),
        _ if can_do_nothing => EmbeddedReply::Text(talk::needs_bigger_model().to_owned()),
        RequestRole::Orchestrator => {
            Orchestrator { reader, request, surroundings }.reply(&conversation)
        }
        RequestRole::Specialist | RequestRole::Single => {
            Specialist { reader, request, surroundings }.reply(&conversation)
        }
    }
}

/// Returns the tool that the encoder takes a request for first, among those that are offered to the agent
/// and its colleagues; none if it is for no tool. The model may still ask before it calls it.
pub fn first_reading(request: &ModelRequest) -> Option<String> {
    let reader = RequestReader::shared();
    let Some(Message::User(message)) =
        request.newest_user().and_then(|at| request.messages.get(at))
    else {
        return None;
    };
    let gist = reader.read_gist(&message.text);
    let colleagues = request.colleagues.iter().map(|colleague| &**colleague);
    let readings = WeightedMeanings::of(reader, &gist, &request.tools, colleagues);
    match readings.all.first()?.meaning {
        RequestMeaning::Tool { tool, .. } => Some(tool.name.to_string()),
        _ => None,
    }
}

/// Returns the transfer of a request if its target is clear.
pub(crate) fn clear_transfer(request: &ModelRequest) -> Option<EmbeddedReply> {
    let may_transfer = request.tools.iter().any(|tool| &*tool.name == TRANSFER_TOOL);
    if request.role != RequestRole::Orchestrator || !may_transfer {
        return None;
    }
    let reader = RequestReader::shared();
    let conversation = read_conversation(reader, request);
    Orchestrator { reader, request, surroundings: &NoSurroundings }.clear_transfer(&conversation)
}

fn read_conversation<'a>(reader: &RequestReader, request: &'a ModelRequest) -> Conversation<'a> {
    Conversation::of(request, &TeamJudge { reader, request })
}

/// Judges answers by what this agent and its colleagues can do.
struct TeamJudge<'a> {
    reader: &'a RequestReader,
    request: &'a ModelRequest,
}

impl AnswerJudge for TeamJudge<'_> {
    fn is_request(&self, words: &str) -> bool {
        let needed = match words.split_whitespace().count() {
            // A name, a path, a number.
            0 | 1 => return false,
            2 | 3 => NEW_SHORT_REQUEST,
            _ => NEW_REQUEST,
        };
        // The text may mean tools of another agent, whichever agent is asked now.
        let readings = WeightedMeanings::of(self.reader, &self.reader.read_gist(words), &[], []);
        let requests = readings.all.iter().filter(|reading| {
            matches!(
                reading.meaning,
                RequestMeaning::Tool { .. } | RequestMeaning::Absent(_) | RequestMeaning::Remote(_)
            )
        });
        requests.map(|reading| reading.probability).sum::<f32>() >= needed
    }

    fn tools(&self, author: Option<&str>) -> Vec<&ToolDeclaration> {
        let colleagues = self.request.colleagues.iter();
        match author {
            None => self.request.tools.iter().collect(),
            // A specialist is asked by the root, which repeats only questions of our own.
            Some(ORCHESTRATOR) => {
                let others = colleagues.flat_map(|colleague| &colleague.tools);
                self.request.tools.iter().chain(others).collect()
            }
            Some(author) => {
                let own = colleagues.filter(|colleague| colleague.name == author);
                own.flat_map(|colleague| &colleague.tools).collect()
            }
        }
    }

    fn find_asked_parameter(
        &self,
        author: Option<&str>,
        question: &str,
        request: &str,
    ) -> Option<(String, String)> {
        let asked: Vec<(&ToolDeclaration, String)> = self
            .tools(author)
            .into_iter()
            .filter_map(|tool| Some((tool, asked_parameter(tool, question)?)))
            .collect();
        // Several tools may ask in the same words: the likeliest of them did.
        let gist = self.reader.read_gist(request);
        let colleagues = self.request.colleagues.iter().map(|colleague| &**colleague);
        let readings = WeightedMeanings::of(self.reader, &gist, &self.request.tools, colleagues);
        let likeliest = readings.all.iter().find_map(|reading| match reading.meaning {
            RequestMeaning::Tool { tool, .. } => {
                asked.iter().find(|(other, _)| other.name == tool.name)
            }
            _ => None,
        });
        let (tool, parameter) = likeliest.or_else(|| asked.first())?;
        Some((tool.name.to_string(), parameter.clone()))
    }
}

/// Splits a request into steps.
fn render_plan(conversation: &Conversation<'_>) -> String {
    let steps = RequestStructure::of(&conversation.words).steps();
    if steps.is_empty() {
        return talk::cannot_split_line().to_owned();
    }
    let lines = steps.iter().enumerate().map(|(at, step)| format!("{}. {step}", at + 1));
    lines.collect::<Vec<_>>().join("\n")
}
