//! A reply as it is put together from pieces.

use std::collections::VecDeque;

use lango_protocol::Usage;

use crate::{Fault, ModelError, ModelEvent, RequestedCall};

/// The most calls of one reply that are kept. More are beyond any use, and each costs memory.
const MAX_CALLS: usize = 512;

/// How a model ended its reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ending {
    /// It had said everything.
    Complete,
    /// It ran into its output limit.
    OutputLimit,
    /// The provider stopped it for what it said or was asked.
    Refused,
}

/// Collects what a dialect reads. Text goes out at once; calls wait for the end of the reply.
#[derive(Debug, Default)]
pub(crate) struct Assembly {
    events: VecDeque<ModelEvent>,
    calls: Vec<RequestedCall>,
    said_something: bool,
    keepsake: Option<String>,
    usage: Option<Usage>,
    ending: Option<Ending>,
    closed: bool,
}

impl Assembly {
    /// A piece of the answer.
    pub(crate) fn text(&mut self, text: String) {
        if !text.is_empty() {
            self.said_something = true;
            self.events.push_back(ModelEvent::Text(text));
        }
    }

    /// A piece of the model's reasoning.
    pub(crate) fn reasoning(&mut self, text: String) {
        if !text.is_empty() {
            self.events.push_back(ModelEvent::Reasoning(text));
        }
    }

    /// A call begins. The number it gets is how pieces are added to it.
    pub(crate) fn begin_call(&mut self) -> usize {
        if self.calls.len() <= MAX_CALLS {
            self.calls.push(RequestedCall { name: String::new(), arguments: String::new() });
        }
        self.calls.len() - 1
    }

    /// A piece of a call. Numbers that were never given out mean nothing.
    pub(crate) fn extend_call(&mut self, number: usize, name: &str, arguments: &str) {
        // The one beyond the limit collects everything that is not kept.
        if let Some(call) = self.calls.get_mut(number).filter(|_| number < MAX_CALLS) {
            call.name.push_str(name);
            call.arguments.push_str(arguments);
        }
    }

    /// What the provider wants to see again with this reply; replaces what was set before.
    pub(crate) fn keep(&mut self, keepsake: String) {
        self.keepsake = Some(keepsake);
    }

    /// The figures as known so far, to be changed.
    pub(crate) fn usage(&mut self) -> &mut Usage {
        self.usage.get_or_insert_default()
    }

    /// The model has finished; figures may still follow.
    pub(crate) fn finish(&mut self, ending: Ending) {
        self.ending = Some(ending);
    }

    /// The wire's end mark: nothing more is read. Some servers send nothing else at the end of a
    /// text; a call needs more than that to be whole, because proxies send the mark after a cut.
    pub(crate) fn close(&mut self) {
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

    /// Nothing more comes. Only now are calls given out, and only whole ones.
    pub(super) fn end(&mut self) -> Result<(), ModelError> {
        let Some(ending) = self.ending else {
            return Err(ModelError::new(
                Fault::Cut,
                if self.calls.is_empty() {
                    "the connection closed before the end mark"
                } else {
                    "the connection closed inside a tool call, which was not run"
                },
            ));
        };
        if ending == Ending::OutputLimit && !self.calls.is_empty() {
            return Err(ModelError::new(Fault::OutputLimit, ""));
        }
        if ending == Ending::Refused && !self.said_something {
            return Err(ModelError::new(
                Fault::ContentRefused,
                "it stopped before it said anything",
            ));
        }
        self.events.extend(self.usage.take().map(ModelEvent::Usage));
        self.events.extend(self.keepsake.take().map(ModelEvent::Keepsake));
        // What was refused in the middle is words at most.
        if ending != Ending::Refused {
            let calls = std::mem::take(&mut self.calls).into_iter().take(MAX_CALLS);
            self.events.extend(calls.map(ModelEvent::Call));
        }
        Ok(())
    }
}
