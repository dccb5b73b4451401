//! Models: the stream-first [`Model`] trait, the providers behind it, and a scripted model that
//! speaks a provider's wire over loopback for tests, benchmarks and the demo.
//!
//! A request cannot hold a call without its result ([`Message::Exchange`]), so no history that
//! reaches a provider can be refused for it. What a model says is only data here: whether a call
//! may run is the runtime's business.

mod error;
pub mod openai;
mod request;
pub mod scripted;
mod sse;
mod stream;
mod tokens;

pub use error::ModelError;
pub use request::{AnsweredCall, ContextBlock, Message, ModelRequest};
pub use stream::{Model, ModelEvent, ModelStream, RequestedCall, StreamFuture};
pub use tokens::estimate_tokens;
