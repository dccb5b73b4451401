//! Defines the trait that every model implements.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::Stream;
use lango_protocol::Usage;

use crate::{ModelError, ModelId, ModelRequest};

/// Is one piece of a model's reply. The end of the stream without an error means that the model had
/// finished; a stream that breaks off ends with [`ModelFault::Cut`](crate::ModelFault::Cut).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelEvent {
    /// A piece of its answer.
    Text(String),
    /// A piece of its reasoning, which is not part of the answer.
    Reasoning(String),
    /// The provider state of this reply, as JSON. No other provider ever gets it.
    ProviderState(String),
    /// A whole call. Given only once the model has finished, so never half of one.
    Call(RequestedCall),
    /// The usage of the request, as the provider counts it.
    Usage(Usage),
    /// The model that is answering now. The first event of a reply, and again after a setback.
    Answering(ModelId),
    /// The attempt failed and is repeated: every earlier piece of this reply is void.
    Setback(Setback),
    /// The conversation did not fit the model, and this much of it was left out.
    Shortened(Shortening),
}

/// Represents a call as the model wrote it: nothing is checked yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedCall {
    /// The name.
    pub name: String,
    /// The arguments' text.
    pub arguments: String,
}

/// Describes an attempt that failed, and the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setback {
    /// The reason.
    pub error: ModelError,
    /// The model that is asked next.
    pub next: ModelId,
    /// The wait before the next attempt.
    pub wait: Duration,
}

/// Says how much was left out of a request to make it fit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shortening {
    /// Messages of earlier turns that are gone.
    pub messages: usize,
    /// Results of this turn of which only the beginning is left.
    pub results: usize,
}

/// Streams the pieces of one reply.
pub type ModelStream = Pin<Box<dyn Stream<Item = Result<ModelEvent, ModelError>> + Send>>;

/// A language model, implemented for each provider. It is used as `dyn`, because the user's
/// configuration selects the provider.
pub trait Model: Send + Sync {
    /// Returns the model's identity for events and messages.
    fn id(&self) -> &ModelId;

    /// Asks the model. Nothing is sent before the stream is polled; dropping it stops the request.
    fn stream(&self, request: Arc<ModelRequest>) -> ModelStream;
}
