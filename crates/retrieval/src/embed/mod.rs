//! Defines the embedder, which turns texts into vectors, and its implementations.

mod local;
mod remote;

use std::future::Future;
use std::pin::Pin;

pub use local::LocalEmbedder;
pub use remote::{RemoteEmbedder, RemoteWire};

/// Says what a text is embedded for. Some models distinguish these.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EmbeddingPurpose {
    /// To be found.
    Passage,
    /// To find.
    Query,
}

/// Identifies a model. Vectors of different models are never compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingModel {
    /// As `PROVIDER/NAME`.
    pub name: String,
}

/// Resolves to the vectors of some texts, in their order, each of length one.
pub type EmbedFuture<'a> =
    Pin<Box<dyn Future<Output = Result<Vec<Vec<f32>>, EmbedError>> + Send + 'a>>;

/// Turns texts into vectors, such that texts of similar meaning are near to each other.
/// Implemented by each provider; `dyn` because which one is decided by the user's configuration.
pub trait Embedder: Send + Sync {
    /// Returns the model.
    fn model(&self) -> &EmbeddingModel;

    /// Returns how many texts should be embedded at once.
    fn batch(&self) -> usize;

    /// Embeds these texts.
    fn embed<'a>(&'a self, texts: &'a [String], purpose: EmbeddingPurpose) -> EmbedFuture<'a>;
}

/// Says why there are no vectors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    /// The server does not answer.
    #[error(
        "the embedding model {model} cannot be reached: {reason}. Check embedding.provider with \
         `lango config show`, or use the built-in model: `lango config set embedding.provider local`"
    )]
    Unreachable {
        /// The model.
        model: String,
        /// The network's error.
        reason: String,
    },
    /// The server answers, but not with vectors.
    #[error(
        "the embedding model {model} refused: {reason}. Check embedding.model and the key with \
         `lango doctor`"
    )]
    Refused {
        /// The model.
        model: String,
        /// The server's message.
        reason: String,
    },
    /// The answer is not what was asked for.
    #[error("the embedding model {model} gave an answer that makes no sense: {reason}")]
    Unreadable {
        /// The model.
        model: String,
        /// The error in it.
        reason: String,
    },
}

/// Makes a vector as long as one.
fn normalise_vector(vector: &mut [f32]) {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        for value in vector {
            *value /= length;
        }
    }
}
