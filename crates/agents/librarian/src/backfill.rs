//! Computes the vectors of texts that have none yet, a few at a time.

use std::sync::atomic::{AtomicBool, Ordering};

use lango_retrieval::{RetrievalError, RetrievalIndex};
use lango_runtime::{FinishedTurn, ObserverFuture, TurnObserver};
use tokio_util::sync::CancellationToken;

/// Limits how many passages are embedded after a turn: a second or two of work.
const MAX_PASSAGES_PER_TURN: u64 = 64;

/// Computes missing vectors after the embedding model changed or failed to answer.
pub(crate) struct EmbeddingBackfill {
    retrieval: RetrievalIndex,
    /// True once no vector was missing. Later texts get their vectors when they are stored, unless
    /// the model does not answer; the next process makes up for that.
    complete: AtomicBool,
}

impl EmbeddingBackfill {
    pub(crate) fn new(retrieval: RetrievalIndex) -> Self {
        Self { retrieval, complete: AtomicBool::new(false) }
    }
}

impl TurnObserver for EmbeddingBackfill {
    fn finished<'a>(&'a self, _: &'a FinishedTurn) -> ObserverFuture<'a> {
        Box::pin(async move {
            let to_text = |error: RetrievalError| error.to_string();
            if self.complete.load(Ordering::Relaxed) {
                return Ok(());
            }
            if self.retrieval.count_missing_vectors().await.map_err(to_text)? == 0 {
                self.complete.store(true, Ordering::Relaxed);
                return Ok(());
            }
            let never = CancellationToken::new();
            let embedded =
                self.retrieval.embed_missing(MAX_PASSAGES_PER_TURN, &never, |_| {}).await;
            embedded.map(drop).map_err(to_text)
        })
    }
}
