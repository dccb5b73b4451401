//! Assembles a reply from its pieces.

use std::collections::VecDeque;

use lango_protocol::Usage;

use crate::{ModelError, ModelEvent, ModelFault, RequestedCall};

/// Limits the calls of one reply. More have no use, and each costs memory.
const MAX_CALL_COUNT: usize = 512;

/// Says how a model ended its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// The reply is complete.
    Complete,
    /// It ran into its output limit.
    OutputLimit,
    /// The provider stopped the reply because of the content of the reply or the request.
    Refused,
}

/// Collects what a dialect reads. Text goes out at once; calls wait for the end of the reply.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    events: VecDeque<ModelEvent>,
    calls: Vec<RequestedCall>,
    has_text: bool,
    provider_state: Option<String>,
    usage: Option<Usage>,
    ending: Option<Ending>,
    closed: bool,
}

impl Assembly {
    /// Adds a piece of the answer.
    pub(crate) fn add_text(&mut self, text: String) {
        if !text.is_empty() {
            self.has_text = true;
            self.events.push_back(ModelEvent::Text(text));
        }
    }

    /// Adds a piece of the model's reasoning.
    pub(crate) fn add_reasoning(&mut self, text: String) {
        if !text.is_empty() {
            self.events.push_back(ModelEvent::Reasoning(text));
        }
    }

    /// Begins a call and returns its number, with which pieces are added to it.
    pub(crate) fn begin_call(&mut self) -> usize {
        if self.calls.len() <= MAX_CALL_COUNT {
            self.calls.push(RequestedCall { name: String::new(), arguments: String::new() });
        }
        self.calls.len() - 1
    }

    /// Adds a piece to a call. An unknown number is ignored.
    pub(crate) fn extend_call(&mut self, number: usize, name: &str, arguments: &str) {
        // The call beyond the limit stands for all that are dropped.
        if let Some(call) = self.calls.get_mut(number).filter(|_| number < MAX_CALL_COUNT) {
            call.name.push_str(name);
            call.arguments.push_str(arguments);
        }
    }

    /// Sets the provider state of this reply and replaces an earlier one.
    pub(crate) fn set_provider_state(&mut self, provider_state: String) {
        self.provider_state = Some(provider_state);
    }

    /// Returns the token counts so far, to be changed.
    pub(crate) fn usage(&mut self) -> &mut Usage {
        self.usage.get_or_insert_default()
    }

    /// Records that the model has finished; token counts may still follow.
    pub(crate) fn record_ending(&mut self, ending: Ending) {
        self.ending = Some(ending);
    }

    /// Records the end mark of the stream: nothing more is read. Some servers send nothing else at
    /// the end of a text; a call needs more than that to be complete, because proxies send the mark
    /// after a cut.
    pub(crate) fn record_end_mark(&mut self) {
        self.closed = true;
        if self.calls.is_empty() {
            self.ending.get_or_insert(Ending::Complete);
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    pub(super) fn is_finished(&self) -> bool {
        self.ending.is_some()
    }

    pub(super) fn next_event(&mut self) -> Option<ModelEvent> {
        self.events.pop_front()
    }

    /// Ends the reply. Only now are calls given out, and only complete ones.
    pub(super) fn end(&mut self) -> Result<(), ModelError> {
        let Some(ending) = self.ending else {
            return Err(ModelError::new(
                ModelFault::Cut,
                if self.calls.is_empty() {
                    "the connection closed before the end mark"
                } else {
                    "the connection closed inside a tool call, which was not run"
                },
            ));
        };
        if ending == Ending::OutputLimit && !self.calls.is_empty() {
            return Err(ModelError::new(ModelFault::OutputLimit, ""));
        }
        if ending == Ending::Refused && !self.has_text {
            return Err(ModelError::new(
                ModelFault::ContentRefused,
                "it stopped before it said anything",
            ));
        }
        self.events.extend(self.usage.take().map(ModelEvent::Usage));
        self.events.extend(self.provider_state.take().map(ModelEvent::ProviderState));
        // A reply that was refused in the middle has text at most.
        if ending != Ending::Refused {
            let calls = std::mem::take(&mut self.calls).into_iter().take(MAX_CALL_COUNT);
            self.events.extend(calls.map(ModelEvent::Call));
        }
        Ok(())
    }
}
