//! Embeds texts with the embedded model.

use futures_util::stream::{self, StreamExt as _};
use lango_encoder::Encoder;

use super::{EmbedError, EmbedFuture, Embedder, EmbeddingModel, EmbeddingPurpose};

/// Embeds in this process, without a network, a key or a file. The weights are unpacked when the
/// first text comes.
#[derive(Debug)]
pub struct LocalEmbedder {
    model: EmbeddingModel,
}

/// Limits the texts that one core embeds together. More gain nothing and delay others longer.
const BATCH_SIZE: usize = 32;

/// Limits the cores that work at once.
const MAX_WORKER_COUNT: usize = 8;

fn worker_count() -> usize {
    std::thread::available_parallelism().map_or(1, |cores| cores.get().min(MAX_WORKER_COUNT))
}

impl LocalEmbedder {
    /// Makes the embedder. It costs nothing until it is used.
    pub fn new() -> Self {
        Self { model: EmbeddingModel { name: format!("local/{}", lango_encoder::NAME) } }
    }
}

impl Default for LocalEmbedder {
    fn default() -> Self {
        Self::new()
    }
}

impl Embedder for LocalEmbedder {
    fn model(&self) -> &EmbeddingModel {
        &self.model
    }

    fn batch(&self) -> usize {
        BATCH_SIZE * worker_count()
    }

    fn embed<'a>(&'a self, texts: &'a [String], _: EmbeddingPurpose) -> EmbedFuture<'a> {
        Box::pin(async move {
            let workers = worker_count();
            let share = texts.len().div_ceil(workers).clamp(1, BATCH_SIZE);
            let shares: Vec<Vec<String>> = texts.chunks(share).map(<[String]>::to_vec).collect();
            let shares = stream::iter(shares).map(|texts| {
                tokio::task::spawn_blocking(move || {
                    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                    Encoder::shared().encode(&texts)
                })
            });
            let mut encoded = shares.buffered(workers);
            let mut vectors = Vec::with_capacity(texts.len());
            while let Some(share) = encoded.next().await {
                vectors.extend(share.map_err(|error| EmbedError::Unreadable {
                    model: self.model.name.clone(),
                    reason: error.to_string(),
                })?);
            }
            Ok(vectors)
        })
    }
}
