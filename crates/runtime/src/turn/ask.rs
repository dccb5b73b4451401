//! One streamed model call, bounded.

use std::sync::Arc;

use futures_util::StreamExt;
use lango_model::{
    Message, ModelEvent, ModelId, ModelRequest, RequestedCall, Setback, estimate_tokens,
};
use lango_protocol::marker::DeltaFilter;
use lango_protocol::{EventBody, Usage, WarningCode};
use tracing::Instrument as _;

use super::think::ends_turn;
use super::{Role, Stop, Turn};
use crate::output::cut_at;
use crate::recorder::{Draft, Voice};
use crate::team::Agent;
use crate::words;

/// The most reasoning that is kept of one reply. It is for people; models never see it again.
const MAX_REASONING: usize = 64 * 1024;
/// The most a provider may want to see again with one reply.
const MAX_KEEPSAKE: usize = 256 * 1024;

/// What was heard of a model.
#[derive(Default)]
pub(super) struct Heard {
    pub(super) text: String,
    pub(super) calls: Vec<RequestedCall>,
    /// The model that answered.
    pub(super) by: String,
    /// What is recorded about the call itself.
    pub(super) notes: Vec<EventBody>,
    reasoning: String,
    keepsake: Option<String>,
    usage: Option<Usage>,
    filter: DeltaFilter,
}

impl Turn {
    /// Asks the model and shows its words as they come. Stops at once when the turn is stopped.
    pub(super) async fn ask(
        &self,
        agent: &Agent,
        voice: &Voice,
        role: Role<'_>,
        step: u32,
        request: ModelRequest,
    ) -> Result<Heard, Stop> {
        let span = tracing::info_span!("model_call", agent = %agent.name, step);
        let heard = self.listen(agent, voice, role, step, request).instrument(span);
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(Stop::Interrupted),
            heard = heard => heard,
        }
    }

    async fn listen(
        &self,
        agent: &Agent,
        voice: &Voice,
        role: Role<'_>,
        step: u32,
        request: ModelRequest,
    ) -> Result<Heard, Stop> {
        let request_size = RequestSize::of(&request);
        let limit = self.shared.settings.reply_bytes;
        let mut heard = Heard::default();
        let mut answering = None;
        let mut stream = agent.model.model.stream(Arc::new(request));
        while let Some(event) = stream.next().await {
            match event.map_err(Stop::Provider)? {
                ModelEvent::Text(text) => {
                    heard.text.push_str(&text);
                    let shown = heard.filter.push(&text);
                    if !shown.is_empty() {
                        self.recorder.show(voice, step, shown, ends_turn(role)).await;
                    }
                    if heard.text.len() > limit {
                        heard.cut(limit);
                        break;
                    }
                }
                ModelEvent::Setback(setback) => {
                    // Warnings stay true; everything else was of a reply that is void.
                    heard = Heard { notes: heard.notes, ..Heard::default() };
                    let setback = self.setback(agent, &setback);
                    self.recorder.record(vec![Draft::of(voice, step, setback)]).await?;
                }
                ModelEvent::Answering(id) => answering = Some(id),
                other => heard.take(other),
            }
        }
        let rest = std::mem::take(&mut heard.filter).finish();
        if !rest.is_empty() {
            self.recorder.show(voice, step, rest, ends_turn(role)).await;
        }
        let id = answering.as_ref().unwrap_or_else(|| agent.model.model.id());
        heard.account(id, &request_size);
        heard.by = id.to_string();
        tracing::debug!(model = %heard.by, calls = heard.calls.len(), "model answered");
        Ok(heard)
    }

    fn setback(&self, agent: &Agent, setback: &Setback) -> EventBody {
        let model = setback.error.model().unwrap_or_else(|| agent.model.model.id());
        let fault = setback.error.fault.name();
        tracing::warn!(%model, fault, next = %setback.next, wait = ?setback.wait, "model call failed");
        EventBody::Setback {
            model: model.to_string(),
            fault: setback.error.fault.name().to_owned(),
            // A provider that is sent a key may well answer with it.
            reason: self.shared.scrubber.scrub(&setback.error.to_string()).into_owned(),
            next: setback.next.to_string(),
            wait_milliseconds: u64::try_from(setback.wait.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

impl Heard {
    /// What is kept and not shown.
    fn take(&mut self, event: ModelEvent) {
        match event {
            ModelEvent::Reasoning(text) => {
                let room = MAX_REASONING.saturating_sub(self.reasoning.len());
                self.reasoning.push_str(cut_at(&text, room));
            }
            ModelEvent::Keepsake(data) if data.len() <= MAX_KEEPSAKE => self.keepsake = Some(data),
            ModelEvent::Call(call) => self.calls.push(call),
            ModelEvent::Usage(figures) => self.usage = Some(figures),
            ModelEvent::Shortened(shortened) => self.notes.push(EventBody::Warning {
                code: WarningCode::ContextShortened,
                text: words::shortened(shortened),
            }),
            _ => {}
        }
    }

    /// Notes who answered, what it thought, and what that cost.
    fn account(&mut self, id: &ModelId, request: &RequestSize) {
        // Only a reply with calls is ever sent back within its turn.
        let keepsake = self.keepsake.take().filter(|_| !self.calls.is_empty());
        if !self.reasoning.is_empty() || keepsake.is_some() {
            let text = std::mem::take(&mut self.reasoning);
            self.notes.push(EventBody::Reasoning { model: id.to_string(), text, keepsake });
        }
        let estimated = self.usage.is_none();
        let usage = self.usage.unwrap_or_else(|| Usage {
            input: request.tokens(),
            output: estimate_tokens(&self.text),
            ..Usage::default()
        });
        let (provider, model) = (id.provider.clone(), id.model.clone());
        self.notes.push(EventBody::Usage { provider, model, usage, estimated });
    }

    fn cut(&mut self, limit: usize) {
        self.text.truncate(cut_at(&self.text, limit).len());
        self.text.push_str("\n[the reply was longer than allowed and was cut here]");
        self.notes.push(EventBody::Warning {
            code: WarningCode::ReplyTruncated,
            text: format!("the model's reply was longer than {limit} bytes and was cut"),
        });
    }
}

/// How large a request is, for providers that do not count.
struct RequestSize {
    bytes: usize,
}

impl RequestSize {
    fn of(request: &ModelRequest) -> Self {
        let message = |message: &Message| match message {
            Message::User(message) => message.text_bytes(),
            Message::Assistant { text, .. } => text.len(),
            Message::Exchange { text, calls, .. } => {
                let calls = calls.iter().map(|call| call.arguments.len() + call.result.len());
                text.len() + calls.sum::<usize>()
            }
        };
        let messages: usize = request.messages.iter().map(message).sum();
        let tools: usize = request.tools.iter().map(|tool| tool.parameters.get().len()).sum();
        Self { bytes: request.instruction.len() + messages + tools }
    }

    /// Four bytes to a token: a rough figure, and marked as one.
    fn tokens(&self) -> u64 {
        (self.bytes / 4) as u64
    }
}
