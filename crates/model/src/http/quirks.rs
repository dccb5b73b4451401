//! Learns which parts of a request a server does not accept.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::{ModelError, ModelFault, ModelRequest, ReplyOptions};

/// Lists the parts of a request that one server refuses and another needs. There is no list of
/// them, but servers name what they refuse; it is then left out of all requests that follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Quirks(u8);

impl Quirks {
    /// Means that the model takes no temperature.
    const NO_TEMPERATURE: Self = Self(1);
    /// Means that tools work only without reasoning.
    const NO_REASONING: Self = Self(2);
    /// Means that the output limit has its old name, `max_tokens`.
    const OLD_LIMIT: Self = Self(4);
    /// Means that there is no `stream_options`.
    const NO_STREAM_OPTIONS: Self = Self(8);

    fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn no_reasoning(self) -> bool {
        self.has(Self::NO_REASONING)
    }

    pub(crate) fn old_limit(self) -> bool {
        self.has(Self::OLD_LIMIT)
    }

    pub(crate) fn no_stream_options(self) -> bool {
        self.has(Self::NO_STREAM_OPTIONS)
    }

    /// Returns the quirk that an error reports, if it is one that can be worked around.
    fn from_error(error: &ModelError, options: &ReplyOptions) -> Option<Self> {
        if error.fault != ModelFault::BadRequest {
            return None;
        }
        let words = error.reason.to_ascii_lowercase();
        let says = |word: &str| words.contains(word);
        if says("reasoning_effort") {
            Some(Self::NO_REASONING)
        } else if says("stream_options") {
            Some(Self::NO_STREAM_OPTIONS)
        } else if says("max_completion_tokens") && options.max_output_tokens.is_some() {
            Some(Self::OLD_LIMIT)
        } else if says("temperature") && options.temperature.is_some() {
            Some(Self::NO_TEMPERATURE)
        } else {
            None
        }
    }

    /// Returns the request without the parts that can be left out on any API.
    pub(super) fn applied(self, request: &Arc<ModelRequest>) -> Arc<ModelRequest> {
        if !self.has(Self::NO_TEMPERATURE) || request.options.temperature.is_none() {
            return Arc::clone(request);
        }
        let mut request = ModelRequest::clone(request);
        request.options.temperature = None;
        Arc::new(request)
    }
}

/// Holds the quirks that were learned about one model so far.
#[derive(Debug, Default)]
pub(super) struct LearnedQuirks(AtomicU8);

impl LearnedQuirks {
    pub(super) fn quirks(&self) -> Quirks {
        Quirks(self.0.load(Ordering::Relaxed))
    }

    /// Tells whether `error`, the answer to a request made with `known`, reports a new quirk.
    pub(super) fn learn(&self, error: &ModelError, options: &ReplyOptions, known: Quirks) -> bool {
        match Quirks::from_error(error, options) {
            Some(quirk) if !known.has(quirk) => {
                self.0.fetch_or(quirk.0, Ordering::Relaxed);
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_thing_is_learnt_once() {
        let learned = LearnedQuirks::default();
        let options = ReplyOptions { max_output_tokens: Some(9), temperature: Some(0.5) };
        let tell = |fault, words: &str| {
            learned.learn(&ModelError::new(fault, words), &options, learned.quirks())
        };
        assert!(!tell(ModelFault::Overloaded, "temperature"));
        assert!(!tell(ModelFault::BadRequest, "the messages are wrong"));
        assert!(tell(
            ModelFault::BadRequest,
            "Unsupported value: 'temperature' does not support 0.5"
        ));
        assert!(!tell(ModelFault::BadRequest, "temperature again"));
        let words = "Function tools with reasoning_effort are not supported; set it to 'none'";
        assert!(tell(ModelFault::BadRequest, words) && !tell(ModelFault::BadRequest, words));
        assert!(tell(
            ModelFault::BadRequest,
            "Extra inputs are not permitted: max_completion_tokens"
        ));
        assert!(tell(ModelFault::BadRequest, "unknown field stream_options"));
        let quirks = learned.quirks();
        assert!(quirks.no_reasoning() && quirks.old_limit() && quirks.no_stream_options());
    }
}
