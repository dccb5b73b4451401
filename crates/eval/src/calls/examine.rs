//! Asks a model what it would do about a request, as the orchestrator and as the specialist that it
//! chose.

use lango_embedded::{EMBEDDED, first_reading};
use lango_model::{
    Message, Model, ModelError, ModelFault, ModelId, ModelRequest, ReplyOptions, RequestRole,
    RequestedCall, UserMessage,
};
use lango_protocol::{TRANSFER_TOOL, TransferArguments, marker};

use super::arguments::Arguments;
use super::clock::{DecisionClock, ElapsedTime};
use super::team::{AgentPart, EvaluatedTeam, NO_AGENT};
use crate::reply::{ModelReply, collect_reply};

/// Asks one model about requests.
pub struct Examiner<'a> {
    /// The team that the requests are about.
    pub team: &'a EvaluatedTeam,
    /// The model.
    pub model: &'a dyn Model,
    /// The options of its replies.
    pub options: ReplyOptions,
    /// The chosen model. If the embedded model decides instead, that is the fast path.
    pub id: &'a ModelId,
}

/// The decision of a model about a request.
#[derive(Debug, Default)]
pub(crate) struct ObservedDecision {
    /// The agent that it chose, `none` for small talk; also set if it asks before it acts.
    pub(crate) agent: Option<String>,
    /// The tool that it chose; also set if it asks before it acts.
    pub(crate) tool: Option<String>,
    /// The arguments of the first call.
    pub(crate) arguments: Option<Arguments>,
    /// The tools that it really called.
    pub(crate) called: Vec<String>,
    /// True if it asked the user something instead.
    pub(crate) asked: bool,
    /// The parameter that it asked for.
    pub(super) lacks: Option<String>,
    /// True if the fast path made the transfer, not the model.
    pub(crate) routed: bool,
    /// Its last text.
    pub(crate) said: String,
    pub(crate) as_orchestrator: Option<ElapsedTime>,
    pub(crate) as_specialist: Option<ElapsedTime>,
}

impl Examiner<'_> {
    /// Asks the model. Fails only with an error that the next request would get, too. A reply that
    /// cannot be used is no decision.
    pub(crate) async fn examine(&self, text: &str) -> Result<ObservedDecision, ModelError> {
        let mut observed = ObservedDecision::default();
        let colleagues = self.team.colleagues.clone();
        let message = UserMessage::new(text);
        let request = ModelRequest {
            role: RequestRole::Orchestrator,
            colleagues,
            ..self.request(&self.team.orchestrator, message)
        };
        // The embedded model's questions name no tool: what it read is known all the same.
        let read = (self.id.provider == EMBEDDED).then(|| first_reading(&request)).flatten();
        let (heard, spent) = self.ask(request).await?;
        observed.as_orchestrator = Some(spent);
        let Some(heard) = heard else { return Ok(observed) };
        let by = heard.by.as_ref().map(|by| by.provider.as_str());
        observed.routed = by == Some(EMBEDDED) && self.id.provider != EMBEDDED;
        if heard.calls.is_empty() {
            self.read_orchestrator_text(&mut observed, heard.text);
            if observed.asked && observed.tool.is_none() {
                observed.agent = read.as_deref().and_then(|tool| self.owner(tool));
                observed.tool = read;
            }
            return Ok(observed);
        }
        // A call of a tool without an owner, or a transfer to an agent that does not exist, is no
        // decision.
        let Some(transfer) = first_transfer(&heard.calls) else { return Ok(observed) };
        let Some(specialist) = self.team.specialist(&transfer.agent_name) else {
            return Ok(observed);
        };
        observed.agent = Some(transfer.agent_name);
        if specialist.tools.is_empty() {
            return Ok(observed);
        }
        let task =
            Some(transfer.task.trim()).filter(|task| !task.is_empty() && *task != text.trim());
        let message = UserMessage { task: task.map(str::to_owned), ..UserMessage::new(text) };
        let role = RequestRole::Specialist;
        let request = ModelRequest { role, ..self.request(specialist, message) };
        let (heard, spent) = self.ask(request).await?;
        observed.as_specialist = Some(spent);
        if let Some(heard) = heard {
            self.read_specialist_reply(&mut observed, heard);
            if observed.asked && observed.tool.is_none() {
                observed.tool = read;
            }
        }
        Ok(observed)
    }

    fn request(&self, part: &AgentPart, message: UserMessage) -> ModelRequest {
        ModelRequest {
            instruction: part.instruction.clone(),
            messages: vec![Message::User(message)],
            tools: part.tools.clone(),
            options: self.options,
            ..ModelRequest::default()
        }
    }

    /// Asks the model; returns `None` for a reply that cannot be used.
    async fn ask(
        &self,
        request: ModelRequest,
    ) -> Result<(Option<ModelReply>, ElapsedTime), ModelError> {
        let clock = DecisionClock::start();
        let heard = collect_reply(self.model, request).await;
        let spent = clock.stop();
        match heard {
            Ok(heard) => Ok((Some(heard), spent)),
            Err(error) if is_model_fault(error.fault) => Ok((None, spent)),
            Err(error) => Err(error),
        }
    }

    fn read_orchestrator_text(&self, observed: &mut ObservedDecision, text: String) {
        if marker::find_question(&text).is_some() {
            observed.asked = true;
            self.read_question(observed, &text);
            observed.agent = observed.tool.as_deref().and_then(|tool| self.owner(tool));
        } else if !text.trim().is_empty() {
            observed.agent = Some(NO_AGENT.to_owned());
        }
        observed.said = text;
    }

    fn read_specialist_reply(&self, observed: &mut ObservedDecision, heard: ModelReply) {
        if let Some(first) = heard.calls.first() {
            observed.tool = Some(first.name.clone());
            observed.arguments = serde_json::from_str(&first.arguments).ok();
        } else if marker::find_question(&heard.text).is_some() {
            observed.asked = true;
            self.read_question(observed, &heard.text);
        }
        observed.called = heard.calls.into_iter().map(|call| call.name).collect();
        observed.said = heard.text;
    }

    fn owner(&self, tool: &str) -> Option<String> {
        self.team.tool(tool).map(|tool| tool.agent.clone())
    }

    /// Reads the model's question. The first tool that it names is the model's choice; if it is the
    /// only one, a parameter after it is what the model did not find.
    fn read_question(&self, observed: &mut ObservedDecision, question: &str) {
        let named: Vec<&str> = question.split('`').skip(1).step_by(2).collect();
        let mut tools = named.iter().filter_map(|name| Some((*name, self.team.tool(name)?)));
        let Some((name, tool)) = tools.next() else { return };
        if tools.all(|(other, _)| other == name) {
            let parameter = named.iter().find(|parameter| tool.has(parameter));
            observed.lacks = parameter.map(|parameter| (*parameter).to_owned());
        }
        observed.tool = Some(name.to_owned());
    }
}

fn first_transfer(calls: &[RequestedCall]) -> Option<TransferArguments> {
    let transfer = calls.iter().find(|call| call.name == TRANSFER_TOOL)?;
    TransferArguments::from_json(&transfer.arguments).ok()
}

/// Tells whether an error concerns only the model's reply to this request.
fn is_model_fault(fault: ModelFault) -> bool {
    matches!(fault, ModelFault::ContentRefused | ModelFault::OutputLimit | ModelFault::Malformed)
}
