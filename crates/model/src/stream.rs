//! The trait every model implements.

use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::Stream;
use lango_protocol::Usage;

use crate::{ModelError, ModelId, ModelRequest};

/// What a model says, piece by piece. The end of the stream without an error means that the
/// model had finished; a stream that breaks off ends with [`Fault::Cut`](crate::Fault::Cut).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelEvent {
    /// A piece of its answer.
    Text(String),
    /// A piece of its reasoning, which is not part of the answer.
    Reasoning(String),
    /// What this provider wants to see again along with this reply, as JSON. No other provider
    /// ever gets it.
    Keepsake(String),
    /// A whole call. Given only once the model has finished, so never half of one.
    Call(RequestedCall),
    /// What the request cost, as the provider counts.
    Usage(Usage),
    /// Who is answering now. The first event of a reply, and again after a setback.
    Answering(ModelId),
    /// It did not work, and is tried again: everything heard of this reply so far is void.
    Setback(Setback),
    /// The conversation did not fit the model, and this much of it was left out.
    Shortened(Shortened),
}

/// A call as the model wrote it: nothing is checked yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedCall {
    /// The name.
    pub name: String,
    /// The arguments' text.
    pub arguments: String,
}

/// A try that failed, and what comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setback {
    /// Why.
    pub error: ModelError,
    /// Who is asked next.
    pub next: ModelId,
    /// After how long.
    pub wait: Duration,
}

/// What was left out of a request to make it fit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shortened {
    /// Messages of earlier turns that are gone.
    pub messages: usize,
    /// Results of this turn of which only the beginning is left.
    pub results: usize,
}

/// The pieces of one reply.
pub type ModelStream = Pin<Box<dyn Stream<Item = Result<ModelEvent, ModelError>> + Send>>;

/// A language model. Implemented by each provider; `dyn` because which one is decided by the
/// user's configuration.
pub trait Model: Send + Sync {
    /// Who it is, in events and messages.
    fn id(&self) -> &ModelId;

    /// Asks the model. Nothing is sent before the stream is polled; dropping it stops the request.
    fn stream(&self, request: Arc<ModelRequest>) -> ModelStream;
}
