//! Defines models: the stream-first [`Model`] trait, and its providers.
//!
//! A request cannot hold a call without its result ([`Message::Exchange`]), so no history that
//! reaches a provider can be refused for it. What a model says is only data here: whether a call
//! may run is the runtime's business.

mod anthropic;
mod chain;
mod error;
mod facts;
mod gemini;
mod http;
mod id;
mod ollama;
mod openai;
mod request;
mod stream;
mod tape;
mod tokens;

pub use chain::{Chain, ChainLink, ProviderHealth, RetryPolicy};
pub use error::{ModelError, ModelFault};
pub use facts::{Cost, FactsError, FactsTable, ModelEntry, ModelFacts, Prices};
pub use http::{ApiKey, Endpoint, ListedModel, RemoteModel, Wire, list_models};
pub use id::ModelId;
pub use request::{
    AnsweredCall, CallOutcome, CallTally, Colleague, ContextBlock, EarlierCall, Image, Message,
    ModelRequest, ProviderState, ReplyOptions, RequestRole, UserMessage,
};
pub use stream::{Model, ModelEvent, ModelStream, RequestedCall, Setback, Shortening};
pub use tape::{ExchangeEnd, LoadedRecording, RecordedExchange, RecordingError, RecordingWriter};
pub use tokens::estimate_tokens;
