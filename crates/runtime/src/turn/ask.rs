//! One streamed model call, bounded.

use futures_util::StreamExt;
use lango_model::{Message, ModelEvent, ModelRequest, RequestedCall, estimate_tokens};
use lango_protocol::{EventBody, Usage, WarningCode};

use super::{Stop, Turn};
use crate::marker::DeltaFilter;
use crate::output::cut_at;
use crate::recorder::Voice;
use crate::runtime::Agent;

/// What was heard of a model.
pub(super) struct Heard {
    pub(super) text: String,
    pub(super) calls: Vec<RequestedCall>,
    /// What is recorded about the call itself.
    pub(super) notes: Vec<EventBody>,
}

impl Turn {
    /// Asks the model and shows its words as they come. Stops at once when the turn is stopped.
    pub(super) async fn ask(
        &self,
        agent: &Agent,
        voice: &Voice,
        step: u32,
        request: ModelRequest,
    ) -> Result<Heard, Stop> {
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(Stop::Interrupted),
            heard = self.listen(agent, voice, step, request) => heard,
        }
    }

    async fn listen(
        &self,
        agent: &Agent,
        voice: &Voice,
        step: u32,
        request: ModelRequest,
    ) -> Result<Heard, Stop> {
        let request_size = RequestSize::of(&request);
        let limit = self.shared.settings.reply_bytes;
        let mut heard = Heard { text: String::new(), calls: Vec::new(), notes: Vec::new() };
        let mut filter = DeltaFilter::default();
        let mut usage = None;
        let mut stream = agent.model.stream(request).await.map_err(Stop::Provider)?;
        while let Some(event) = stream.next().await {
            match event.map_err(Stop::Provider)? {
                ModelEvent::Text(text) => {
                    heard.text.push_str(&text);
                    let shown = filter.push(&text);
                    if !shown.is_empty() {
                        self.recorder.show(voice, step, shown).await;
                    }
                    if heard.text.len() > limit {
                        heard.cut(limit);
                        break;
                    }
                }
                // Kept apart from the answer, and so far not kept at all.
                ModelEvent::Reasoning(_) => {}
                ModelEvent::Call(call) => heard.calls.push(call),
                ModelEvent::Usage(figures) => usage = Some(figures),
            }
        }
        let rest = filter.finish();
        if !rest.is_empty() {
            self.recorder.show(voice, step, rest).await;
        }
        let estimated = usage.is_none();
        let usage = usage.unwrap_or_else(|| Usage {
            input: request_size.tokens(),
            output: estimate_tokens(&heard.text),
            ..Usage::default()
        });
        let model = agent.model.name().to_owned();
        heard.notes.push(EventBody::Usage { model, usage, estimated });
        Ok(heard)
    }
}

impl Heard {
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
            Message::User { text } | Message::Assistant { text, .. } => text.len(),
            Message::Exchange { text, calls } => {
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
