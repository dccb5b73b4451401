//! The model that is part of the program.

use lango_encoder::Encoder;

use super::{EmbedError, EmbedFuture, Embedder, EmbeddingModel, Purpose};

/// Embeds in this process, without a network, a key or a file. The weights are unpacked when the
/// first text comes.
#[derive(Debug)]
pub struct LocalEmbedder {
    model: EmbeddingModel,
}

/// Texts that are embedded together. More gain nothing and hold up others longer.
const BATCH: usize = 32;

impl LocalEmbedder {
    /// The embedder. Costs nothing until it is used.
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
        BATCH
    }

    fn embed<'a>(&'a self, texts: &'a [String], _: Purpose) -> EmbedFuture<'a> {
        Box::pin(async move {
            let mut vectors = Vec::with_capacity(texts.len());
            for batch in texts.chunks(BATCH) {
                let batch = batch.to_vec();
                let encoded = tokio::task::spawn_blocking(move || {
                    let texts: Vec<&str> = batch.iter().map(String::as_str).collect();
                    Encoder::shared().encode(&texts)
                });
                vectors.extend(encoded.await.map_err(|error| EmbedError::Unreadable {
                    model: self.model.name.clone(),
                    reason: error.to_string(),
                })?);
            }
            Ok(vectors)
        })
    }
}
