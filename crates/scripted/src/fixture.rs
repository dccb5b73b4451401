//! Defines what the server has to know about an API. Each API implements it in its folder of
//! `wires/`.

use bytes::Bytes;
use hyper::Method;
use hyper::header::HeaderMap;
use lango_model::Wire;

use crate::conversation::Conversation;
use crate::refusal::Refusal;
use crate::script::{ErrorCase, Script};
use crate::signature::Signatures;
use crate::speech::{Rendering, Speech};
use crate::wires::fixture;

/// Implements an API as its provider does: what it accepts, what it refuses, and what a reply looks
/// like.
pub(crate) trait WireFixture: Sync {
    /// Describes the wire.
    fn profile(&self) -> &'static WireProfile;

    /// Returns the model that the path of a request names: an empty text where the body names it,
    /// and `None` where the path is none of this wire.
    fn model_in<'p>(&self, path: &'p str) -> Option<&'p str>;

    /// Reads a request. The error is what the provider says about one that it refuses.
    fn parse<'a>(&self, request: &WireRequest<'a>) -> Result<Conversation<'a>, String>;

    /// Renders a reply as a stream.
    fn render(&self, speech: &Speech<'_>) -> Rendering;

    /// Renders a reply as one document, where the wire has that.
    fn render_whole(&self, _speech: &Speech<'_>) -> Option<Bytes> {
        None
    }

    /// Returns whether a request with this query asks for one document instead of a stream.
    fn wants_whole(&self, _query: &str) -> bool {
        false
    }

    /// Puts a refusal into the provider's shape.
    fn refusal(&self, status: u16, message: &str) -> Refusal;

    /// Refuses a request of a model as the provider does in this case. `None` where the provider
    /// does not refuse it, but sends [`Self::blocked`].
    fn refusal_in(&self, case: ErrorCase, model: &str) -> Option<Refusal>;

    /// Returns the stream that says nothing but why, where the provider does not refuse.
    fn blocked(&self, _model: &str) -> Option<Bytes> {
        None
    }

    /// Returns an error in the middle of a stream.
    fn error_event(&self) -> &'static str;

    /// Returns something in the middle of a stream that is not the protocol.
    fn garbage(&self) -> &'static str;

    /// Answers a question about models; `None` where it is none of this wire.
    fn models(&self, method: &Method, path: &str, headers: &HeaderMap) -> Option<&'static str>;

    /// Returns whether a piece of a stream is nothing but the mark at its end.
    fn is_end_mark(&self, _piece: &[u8]) -> bool {
        false
    }

    /// Returns what servers and proxies send between events to keep a connection open, and what a
    /// later version of a protocol might.
    fn noise(&self, index: usize) -> Option<&'static str> {
        match index % 3 {
            0 => Some(": keep-alive\n\n"),
            1 => Some("id: 7\nretry: 3000\n\n"),
            _ => None,
        }
    }

    /// Returns what tests say over the wire, and what they expect.
    #[cfg(test)]
    fn sample(&self) -> WireSample;
}

/// Represents a request before it is parsed.
pub(crate) struct WireRequest<'a> {
    /// The model, where the path names it.
    pub(crate) model: &'a str,
    pub(crate) headers: &'a HeaderMap,
    pub(crate) body: &'a [u8],
    pub(crate) script: &'a Script,
    pub(crate) signatures: &'a Signatures,
}

/// Describes an API, for tests and benchmarks.
#[derive(Debug)]
pub struct WireProfile {
    /// The path that a base URL ends in.
    pub base_path: &'static str,
    /// The rest of the address that a model called `model` is asked at.
    pub request_path: &'static str,
    /// The separation of the documents of a stream.
    pub framing: Framing,
    /// Names of models, one for each way in which the provider treats them.
    pub model_names: &'static [&'static str],
    /// True if the usage says how much of a request was in the provider's cache.
    pub counts_cached_tokens: bool,
    /// True if the provider may refuse a request for its content.
    pub refuses_content: bool,
    /// Variables with which a user of Lango chooses a provider of this wire; `{url}` is its base
    /// URL.
    pub environment: &'static [(&'static str, &'static str)],
}

/// Says how the documents of a stream are separated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Server-sent events.
    Events,
    /// A document on each line.
    Lines,
}

impl Framing {
    /// Returns the type of a body that is framed like this.
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Events => "text/event-stream",
            Self::Lines => "application/x-ndjson",
        }
    }
}

/// Returns what is known about a wire.
pub fn profile(wire: Wire) -> &'static WireProfile {
    fixture(wire).profile()
}

/// Holds what the server's own tests send over an API, and what they expect.
#[cfg(test)]
pub(crate) struct WireSample {
    /// The headers of a request, each with its end.
    pub(crate) headers: &'static str,
    /// A request of the model `m`; `{user}` is the user's message.
    pub(crate) body: &'static str,
    /// A text that only the end of a stream has.
    pub(crate) end: &'static str,
    /// A part of the answer to a request that cannot be read.
    pub(crate) unreadable: &'static str,
    /// A part of the answer to one request too many, with status 429 and the message "slow down".
    pub(crate) rate_limited: &'static str,
    /// A part of the answer to a conversation that is too long.
    pub(crate) too_long: &'static str,
    /// The statuses of the cases, in their order; 200 where the provider does not refuse.
    pub(crate) statuses: [u16; 7],
}
