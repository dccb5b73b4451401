//! Implements the model: it passes a request to the module that answers it.

use std::sync::Arc;

use futures_util::StreamExt as _;
use lango_model::{
    Colleague, Model, ModelError, ModelEvent, ModelFault, ModelId, ModelRequest, ModelStream,
    RequestRole, RequestedCall,
};
use lango_protocol::{ORCHESTRATOR, TRANSFER_TOOL, Usage};

use super::conversation::{AnswerJudge, Conversation};
use super::decision::{RequestMeaning, WeightedMeanings};
use super::orchestrator::Orchestrator;
use super::reading::RequestReader;
use super::specialist::Specialist;
use super::steps::RequestStructure;
use super::thresholds::{NEW_REQUEST, NEW_SHORT_REQUEST};
use super::{talk, weights};

/// Names the provider.
pub const EMBEDDED: &str = "embedded";

/// The embedded model.
#[derive(Debug)]
pub struct EmbeddedModel {
    id: ModelId,
}

impl EmbeddedModel {
    /// Makes the model. Its weights are loaded when it is first asked.
    pub fn new() -> Self {
        Self { id: embedded_id() }
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
        let decided = async move {
            // Some milliseconds of computation must not block an async thread.
            match tokio::task::spawn_blocking(move || answer_request(&request)).await {
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
}

pub(crate) fn stream_reply(id: ModelId, reply: EmbeddedReply) -> ModelStream {
    let said = match reply {
        EmbeddedReply::Text(text) => ModelEvent::Text(text),
        EmbeddedReply::Call(call) => ModelEvent::Call(call),
    };
    // Tokens are not counted here, and nothing is paid.
    let usage = ModelEvent::Usage(Usage::default());
    Box::pin(futures_util::stream::iter([ModelEvent::Answering(id), said, usage].map(Ok)))
}

/// Answers a request.
pub(crate) fn answer_request(request: &ModelRequest) -> EmbeddedReply {
    let reader = RequestReader::shared();
    let conversation = read_conversation(reader, request);
    let can_do_nothing = request.tools.is_empty() && conversation.done.is_empty();
    match request.role {
        RequestRole::Planner => EmbeddedReply::Text(render_plan(&conversation)),
        _ if can_do_nothing => EmbeddedReply::Text(talk::needs_bigger_model().to_owned()),
        RequestRole::Orchestrator => Orchestrator { reader, request }.reply(&conversation),
        RequestRole::Specialist | RequestRole::Single => {
            Specialist { reader, request }.reply(&conversation)
        }
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
    Orchestrator { reader, request }.clear_transfer(&conversation)
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
            !matches!(reading.meaning, RequestMeaning::SmallTalk | RequestMeaning::Plan)
        });
        requests.map(|reading| reading.probability).sum::<f32>() >= needed
    }

    fn is_ours(&self, author: Option<&str>, tool: &str) -> bool {
        let Some(author) = author else { return true };
        let owns = |colleague: &&Arc<Colleague>| {
            colleague.name == author && colleague.tools.iter().any(|own| &*own.name == tool)
        };
        // A specialist is asked by the root, which repeats only questions of our own.
        let from_root = self.request.colleagues.is_empty() && author == ORCHESTRATOR;
        from_root || self.request.colleagues.iter().any(|colleague| owns(&colleague))
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
