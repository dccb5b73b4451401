//! What an agent is told beside its instruction.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use lango_model::ContextBlock;
use lango_protocol::{AgentName, SessionId, TurnId};

/// For whom context is wanted.
#[derive(Debug, Clone, Copy)]
pub struct ContextRequest<'a> {
    /// The conversation.
    pub session: &'a SessionId,
    /// The turn.
    pub turn: TurnId,
    /// The agent that is about to be asked.
    pub agent: &'a AgentName,
    /// The user's message of this turn.
    pub message: &'a str,
}

/// The blocks, when they are found.
pub type ContextFuture<'a> = Pin<Box<dyn Future<Output = Vec<ContextBlock>> + Send + 'a>>;

/// Gives bounded blocks of knowledge for a request: where the workspace is, what is remembered,
/// which questions are open. Implemented by the wiring and by the agents' crates.
pub trait ContextSource: Send + Sync {
    /// The blocks for this agent in this turn. Asked once for each agent of a turn, so they stay
    /// the same in all of its requests. Must be quick: it is on the user's time.
    fn blocks<'a>(&'a self, request: ContextRequest<'a>) -> ContextFuture<'a>;
}

impl<S: ContextSource + ?Sized> ContextSource for Arc<S> {
    fn blocks<'a>(&'a self, request: ContextRequest<'a>) -> ContextFuture<'a> {
        (**self).blocks(request)
    }
}

/// The longest block that reaches a model.
const MAX_BLOCK_BYTES: usize = 16 * 1024;

/// Collects the blocks of all sources, each cut to its limit.
pub async fn collect_context(
    sources: &[Box<dyn ContextSource>],
    request: ContextRequest<'_>,
) -> Vec<ContextBlock> {
    let mut blocks = Vec::new();
    for source in sources {
        blocks.extend(source.blocks(request).await.into_iter().map(|block| ContextBlock {
            text: crate::output::cut_at(&block.text, MAX_BLOCK_BYTES).to_owned(),
            ..block
        }));
    }
    blocks
}
