//! What an agent is told beside its instruction.

use lango_model::ContextBlock;
use lango_protocol::{AgentName, SessionId};

/// Gives bounded blocks of knowledge for a request: where the workspace is, what is remembered,
/// which questions are open. Implemented by the wiring and by the agents' crates.
pub trait ContextSource: Send + Sync {
    /// The blocks for this agent, now. Must be quick: it is on the user's time.
    fn blocks(&self, session: &SessionId, agent: &AgentName) -> Vec<ContextBlock>;
}

/// The longest block that reaches a model.
const MAX_BLOCK_BYTES: usize = 16 * 1024;

/// Collects the blocks of all sources, each cut to its limit.
pub(crate) fn collect(
    sources: &[Box<dyn ContextSource>],
    session: &SessionId,
    agent: &AgentName,
) -> Vec<ContextBlock> {
    let blocks = sources.iter().flat_map(|source| source.blocks(session, agent));
    blocks
        .map(|block| ContextBlock {
            text: crate::output::cut_at(&block.text, MAX_BLOCK_BYTES).to_owned(),
            ..block
        })
        .collect()
}
