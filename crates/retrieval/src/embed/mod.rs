//! Texts as vectors: the trait, and who implements it.

mod local;
mod remote;

use std::future::Future;
use std::pin::Pin;

pub use local::LocalEmbedder;
pub use remote::{RemoteEmbedder, RemoteWire};

/// What a text is embedded for. Some models make a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To be found.
    Passage,
    /// To find.
    Query,
}

/// Which model. Vectors of different models are never compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingModel {
    /// As `PROVIDER/NAME`.
    pub name: String,
}

/// The vectors of some texts, in their order, each of length one.
pub type EmbedFuture<'a> =
    Pin<Box<dyn Future<Output = Result<Vec<Vec<f32>>, EmbedError>> + Send + 'a>>;

/// Turns texts into vectors, such that texts of similar meaning are near to each other.
/// Implemented by each provider; `dyn` because which one is decided by the user's configuration.
pub trait Embedder: Send + Sync {
    /// Who it is.
    fn model(&self) -> &EmbeddingModel;

    /// How many texts it likes to get at once.
    fn batch(&self) -> usize;

    /// The vectors of these texts.
    fn embed<'a>(&'a self, texts: &'a [String], purpose: Purpose) -> EmbedFuture<'a>;
}

/// Why there are no vectors.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EmbedError {
    /// The server does not answer.
    #[error(
        "the embedding model {model} cannot be reached: {reason}. Check embedding.provider with \
         `lango config show`, or use the built-in model: `lango config set embedding.provider local`"
    )]
    Unreachable {
        /// Which model.
        model: String,
        /// What the network said.
        reason: String,
    },
    /// The server answers, but not with vectors.
    #[error(
        "the embedding model {model} refused: {reason}. Check embedding.model and the key with \
         `lango doctor`"
    )]
    Refused {
        /// Which model.
        model: String,
        /// What it said.
        reason: String,
    },
    /// The answer is not what was asked for.
    #[error("the embedding model {model} gave an answer that makes no sense: {reason}")]
    Unreadable {
        /// Which model.
        model: String,
        /// What is wrong with it.
        reason: String,
    },
}

/// Makes a vector as long as one.
fn normalise(vector: &mut [f32]) {
    let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        for value in vector {
            *value /= length;
        }
    }
}
