//! Makes one streamed model call, with limits.

use std::sync::Arc;

use futures_util::StreamExt;
use lango_model::{
    Message, ModelEvent, ModelId, ModelRequest, RequestedCall, Setback, estimate_tokens,
};
use lango_protocol::marker::DeltaFilter;
use lango_protocol::{EventBody, Usage, WarningCode};
use lango_text::truncate;
use tracing::Instrument as _;

use super::leaks::RequestGuard;
use super::think::ends_turn;
use super::{SpeakerRole, Turn, TurnStop};
use crate::recorder::{EventDraft, Speaker};
use crate::team::Agent;
use crate::words;

/// Names the provider of the embedded model.
const EMBEDDED_PROVIDER: &str = "embedded";

/// Limits the reasoning that is stored of one reply. It is for people; models never see it again.
const MAX_REASONING_BYTES: usize = 64 * 1024;
/// Limits the provider state of one reply.
const MAX_PROVIDER_STATE_BYTES: usize = 256 * 1024;

/// Holds the reply of a model.
#[derive(Default)]
pub(super) struct ModelReply {
    pub(super) text: String,
    pub(super) calls: Vec<RequestedCall>,
    /// The model that answered.
    pub(super) by: String,
    /// The events about the call itself.
    pub(super) notes: Vec<EventBody>,
    reasoning: String,
    provider_state: Option<String>,
    usage: Option<Usage>,
    filter: DeltaFilter,
}

impl Turn {
    /// Calls the model and shows its text as it streams. Stops at once when the turn is stopped.
    pub(super) async fn ask_model(
        &self,
        agent: &Agent,
        speaker: &Speaker,
        role: SpeakerRole<'_>,
        step: u32,
        request: ModelRequest,
    ) -> Result<ModelReply, TurnStop> {
        let span = tracing::info_span!("model_call", agent = %agent.name, step);
        let model_reply = self.stream_reply(agent, speaker, role, step, request).instrument(span);
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(TurnStop::Interrupted),
            model_reply = model_reply => model_reply,
        }
    }

    async fn stream_reply(
        &self,
        agent: &Agent,
        speaker: &Speaker,
        role: SpeakerRole<'_>,
        step: u32,
        mut request: ModelRequest,
    ) -> Result<ModelReply, TurnStop> {
        // Nothing of a request to the embedded model leaves this machine.
        let is_remote = agent.model.model.id().provider != EMBEDDED_PROVIDER;
        let privacy = self.shared.settings.privacy.as_deref().filter(|_| is_remote);
        self.shared.learn_secrets().await;
        let mut guard = RequestGuard::apply(&self.shared.scrubber, privacy, &mut request);
        let request_size = RequestSize::of(&request);
        let limit = self.shared.settings.reply_bytes;
        let mut model_reply = ModelReply::default();
        let mut answering = None;
        let mut stream = agent.model.model.stream(Arc::new(request));
        while let Some(event) = stream.next().await {
            match event.map_err(TurnStop::Provider)? {
                ModelEvent::Text(text) => {
                    let text = guard.push_text(&text);
                    model_reply.text.push_str(&text);
                    let shown = model_reply.filter.push(&text);
                    if !shown.is_empty() {
                        self.recorder.show_text(speaker, step, shown, ends_turn(role)).await;
                    }
                    if model_reply.text.len() > limit {
                        model_reply.truncate_text(limit);
                        // What was held back comes after the cut.
                        guard.restart();
                        break;
                    }
                }
                ModelEvent::Setback(setback) => {
                    // Warnings remain valid; everything else belongs to the discarded reply.
                    model_reply = ModelReply { notes: model_reply.notes, ..ModelReply::default() };
                    guard.restart();
                    let setback = self.describe_setback(agent, &setback);
                    self.recorder
                        .record(vec![EventDraft::with_step(speaker, step, setback)])
                        .await?;
                }
                ModelEvent::Answering(id) => answering = Some(id),
                other => model_reply.store_event(other),
            }
        }
        let held_back = guard.finish_text();
        model_reply.text.push_str(&held_back);
        let shown = model_reply.filter.push(&held_back);
        let rest = shown + &std::mem::take(&mut model_reply.filter).finish();
        model_reply.calls.iter_mut().for_each(|call| guard.clean_call(call));
        model_reply.reasoning = guard.clean(&model_reply.reasoning);
        if !rest.is_empty() {
            self.recorder.show_text(speaker, step, rest, ends_turn(role)).await;
        }
        let id = answering.as_ref().unwrap_or_else(|| agent.model.model.id());
        model_reply.note_usage(id, &request_size);
        model_reply.by = id.to_string();
        tracing::debug!(model = %model_reply.by, calls = model_reply.calls.len(), "model answered");
        Ok(model_reply)
    }

    fn describe_setback(&self, agent: &Agent, setback: &Setback) -> EventBody {
        let model = setback.error.model().unwrap_or_else(|| agent.model.model.id());
        let fault = setback.error.fault.name();
        tracing::warn!(%model, fault, next = %setback.next, wait = ?setback.wait, "model call failed");
        EventBody::Setback {
            model: model.to_string(),
            fault: setback.error.fault.name().to_owned(),
            // A provider may repeat the key that it was sent.
            reason: self.shared.scrubber.scrub(&setback.error.to_string()).into_owned(),
            next: setback.next.to_string(),
            wait_milliseconds: u64::try_from(setback.wait.as_millis()).unwrap_or(u64::MAX),
        }
    }
}

impl ModelReply {
    /// Stores an event that is not shown.
    fn store_event(&mut self, event: ModelEvent) {
        match event {
            ModelEvent::Reasoning(text) => {
                let remaining = MAX_REASONING_BYTES.saturating_sub(self.reasoning.len());
                self.reasoning.push_str(truncate(&text, remaining));
            }
            ModelEvent::ProviderState(data) if data.len() <= MAX_PROVIDER_STATE_BYTES => {
                self.provider_state = Some(data);
            }
            ModelEvent::Call(call) => self.calls.push(call),
            ModelEvent::Usage(figures) => self.usage = Some(figures),
            ModelEvent::Shortened(shortened) => self.notes.push(EventBody::Warning {
                code: WarningCode::ContextShortened,
                text: words::describe_shortening(shortened),
            }),
            _ => {}
        }
    }

    /// Records the model, its reasoning and its usage.
    fn note_usage(&mut self, id: &ModelId, request: &RequestSize) {
        // Only a reply with calls is ever sent back within its turn.
        let provider_state = self.provider_state.take().filter(|_| !self.calls.is_empty());
        if !self.reasoning.is_empty() || provider_state.is_some() {
            let text = std::mem::take(&mut self.reasoning);
            self.notes.push(EventBody::Reasoning { model: id.to_string(), text, provider_state });
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

    fn truncate_text(&mut self, limit: usize) {
        self.text.truncate(truncate(&self.text, limit).len());
        self.text.push_str("\n[the reply was longer than allowed and was cut here]");
        self.notes.push(EventBody::Warning {
            code: WarningCode::ReplyTruncated,
            text: format!("the model's reply was longer than {limit} bytes and was cut"),
        });
    }
}

/// Measures a request, for providers that report no usage.
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

    /// Estimates the tokens at four bytes each. The figure is recorded as an estimate.
    fn tokens(&self) -> u64 {
        (self.bytes / 4) as u64
    }
}
