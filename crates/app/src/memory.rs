//! Memory, put together from the configuration: the chronicler and who observes for it.

use std::sync::Arc;

use lango_chronicler::{Chronicler, ChroniclerError, Memory, MemoryContext, MemorySettings};
use lango_model::Model;
use lango_retrieval::Retrieval;
use lango_runtime::{ContextSource, TurnObserver};
use lango_store::{Database, Journal};
use lango_tool::ToolRegistry;

use crate::config::Config;
use crate::failure::Failure;

/// Memory as the configuration wants it; none where it is not enabled.
pub(crate) fn configured(config: &Config) -> Option<Memory> {
    let given = &config.observational_memory;
    given.enabled.then(|| {
        Memory::new(MemorySettings {
            message_token_threshold: given.message_token_threshold.max(1),
            observation_token_threshold: given.observation_token_threshold.max(1),
            tokens_per_day: given.tokens_per_day,
            memory_token_budget: given.memory_token_budget,
            visible_turns: config.history.turns,
            ..MemorySettings::default()
        })
    })
}

/// Adds the chronicler's tools, where there is a memory.
pub(crate) fn register(
    tools: &mut ToolRegistry,
    config: &Config,
) -> Result<Option<Memory>, Failure> {
    let Some(memory) = configured(config) else { return Ok(None) };
    lango_chronicler::register(tools, &memory)
        .map_err(|error| Failure::usage(error.to_string()))?;
    Ok(Some(memory))
}

/// From now on it remembers in this database.
pub(crate) async fn connect(
    memory: &Memory,
    database: Database,
    journal: Journal,
    retrieval: Retrieval,
) -> Result<(), Failure> {
    memory.connect(database, journal, retrieval).await.map_err(failed)
}

/// What it puts into prompts.
pub(crate) fn context(memory: &Memory) -> Box<dyn ContextSource> {
    Box::new(MemoryContext::new(memory.clone()))
}

/// What it does after a turn.
pub(crate) fn observer(memory: &Memory, model: Option<&Arc<dyn Model>>) -> Arc<dyn TurnObserver> {
    if let Some(model) = model {
        memory.observe_with(Arc::clone(model));
    }
    Arc::new(Chronicler::new(memory.clone()))
}

/// A failure of memory as one of the program.
pub(crate) fn failed(error: ChroniclerError) -> Failure {
    match error {
        ChroniclerError::Store(error) => error.into(),
        error => Failure::usage(error.to_string()),
    }
}
