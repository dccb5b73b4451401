//! The chronicler as assembly sees it: what it is opened with, and what it brings.

use std::sync::Arc;

use lango_runtime::{AgentContext, AgentParts};
use lango_tool::RegisteredTool;

use crate::memory::{Memory, MemoryResources};
use crate::tools::{
    Forget, ListObservations, ListReflections, ObserveEvent, ObserveSession, ReflectSummary,
    SearchMemories, StoreMemory,
};
use crate::{Chronicler, ChroniclerError, MemoryContext, MemorySettings};

/// The chronicler: memory of the user and of past conversations.
pub struct ChroniclerAgent {
    memory: Memory,
}

impl ChroniclerAgent {
    /// Opens the memory of a database.
    pub async fn open(
        settings: MemorySettings,
        resources: MemoryResources,
    ) -> Result<Self, ChroniclerError> {
        Ok(Self::new(Memory::open(settings, resources).await?))
    }

    /// Returns the chronicler of a memory that is open.
    pub fn new(memory: Memory) -> Self {
        Self { memory }
    }

    /// Returns what the chronicler contributes to turns. Observing may ask a model, so it is
    /// background work.
    pub fn parts(&self) -> AgentParts {
        let memory = || self.memory.clone();
        let tools = vec![
            RegisteredTool::new(ListObservations { memory: memory() }),
            RegisteredTool::new(ListReflections { memory: memory() }),
            RegisteredTool::new(SearchMemories { memory: memory() }),
            RegisteredTool::new(StoreMemory { memory: memory() }),
            RegisteredTool::new(Forget { memory: memory() }),
            RegisteredTool::new(ObserveEvent { memory: memory() }),
            RegisteredTool::new(ObserveSession { memory: memory() }),
            RegisteredTool::new(ReflectSummary { memory: memory() }),
        ];
        let context =
            AgentContext { source: Arc::new(MemoryContext::new(memory())), tool_prefix: "memory_" };
        AgentParts {
            tools,
            context: vec![context],
            background: vec![Arc::new(Chronicler::new(memory()))],
            ..AgentParts::default()
        }
    }
}
