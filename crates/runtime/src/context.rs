//! Provides the context that an agent gets in addition to its instruction.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use lango_model::ContextBlock;
use lango_protocol::{AgentName, SessionId, SpaceAccess, TurnId};
use lango_text::truncate;

/// Identifies the agent and the turn that need context.
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
    /// The space of the turn, and those that it may read.
    pub space: &'a SpaceAccess,
}

/// Resolves to the blocks.
pub type ContextFuture<'a> = Pin<Box<dyn Future<Output = Vec<ContextBlock>> + Send + 'a>>;

/// Provides bounded blocks of knowledge for a request, such as the workspace, memories and open
/// questions. Implemented by the application and the agent crates.
pub trait ContextSource: Send + Sync {
    /// Returns the blocks for this agent in this turn. Is called once for each agent of a turn, so
    /// the blocks stay the same in all of its requests. Must be fast, because the user waits for
    /// it.
    fn blocks<'a>(&'a self, request: ContextRequest<'a>) -> ContextFuture<'a>;
}

impl<S: ContextSource + ?Sized> ContextSource for Arc<S> {
    fn blocks<'a>(&'a self, request: ContextRequest<'a>) -> ContextFuture<'a> {
        (**self).blocks(request)
    }
}

/// Limits the size of a block.
const MAX_BLOCK_BYTES: usize = 16 * 1024;

/// Collects the blocks of all sources, each truncated to its limit.
pub async fn collect_context(
    sources: &[Box<dyn ContextSource>],
    request: ContextRequest<'_>,
) -> Vec<ContextBlock> {
    let mut blocks = Vec::new();
    for source in sources {
        blocks.extend(source.blocks(request).await.into_iter().map(|block| ContextBlock {
            text: truncate(&block.text, MAX_BLOCK_BYTES).to_owned(),
            ..block
        }));
    }
    blocks
}
