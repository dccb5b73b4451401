//! Connects the chronicler to the runtime: after a turn, and before an agent is called.

use lango_runtime::{
    ContextFuture, ContextRequest, ContextSource, FinishedTurn, ObserverFuture, TurnObserver,
};

use crate::chronicler::Chronicler;
use crate::context::MemoryContext;

impl ContextSource for MemoryContext {
    fn blocks<'a>(&'a self, request: ContextRequest<'a>) -> ContextFuture<'a> {
        Box::pin(async move {
            let ContextRequest { session, turn, agent, message, space } = request;
            // A turn works without memory too; `lango doctor` reports errors of the database.
            let blocks = self.choose_blocks(session, turn, agent, message, space).await;
            blocks.unwrap_or_else(|error| {
                tracing::warn!(%session, %error, "the turn has no memories");
                Vec::new()
            })
        })
    }
}

impl TurnObserver for Chronicler {
    fn finished<'a>(&'a self, turn: &'a FinishedTurn) -> ObserverFuture<'a> {
        Box::pin(async move {
            let done = self.work_on_turn(turn).await;
            done.map(drop).map_err(|error| format!("memory: {error}"))
        })
    }
}
