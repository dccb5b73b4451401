//! The trait every model implements.

use std::future::Future;
use std::pin::Pin;

use futures_util::Stream;
use lango_protocol::Usage;

use crate::{ModelError, ModelRequest};

/// What a model says, piece by piece. The end of the stream without an error means that the
/// model had finished; a stream that breaks off ends with [`ModelError::Cut`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ModelEvent {
    /// A piece of its answer.
    Text(String),
    /// A piece of its reasoning, which is not part of the answer.
    Reasoning(String),
    /// A whole call. Given only once the model has finished, so never half of one.
    Call(RequestedCall),
    /// What the request cost, as the provider counts.
    Usage(Usage),
}

/// A call as the model wrote it: nothing is checked yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestedCall {
    /// The name.
    pub name: String,
    /// The arguments' text.
    pub arguments: String,
}

/// The pieces of one reply.
pub type ModelStream = Pin<Box<dyn Stream<Item = Result<ModelEvent, ModelError>> + Send>>;

/// The future that opens a stream.
pub type StreamFuture = Pin<Box<dyn Future<Output = Result<ModelStream, ModelError>> + Send>>;

/// A language model. Implemented by each provider; `dyn` because which one is decided by the
/// user's configuration.
pub trait Model: Send + Sync {
    /// What to call it in events and messages, such as `gpt-5-mini`.
    fn name(&self) -> &str;

    /// Asks the model. Dropping the future or the stream stops the request.
    fn stream(&self, request: ModelRequest) -> StreamFuture;
}
