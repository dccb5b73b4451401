//! Opens the chronicler from its settings and resources, and returns the parts that it contributes.

use std::sync::Arc;

use lango_runtime::{AgentContext, AgentParts};
use lango_tool::RegisteredTool;

use crate::memory::{MemoryResources, MemorySystem};
use crate::tools::{
    Forget, ListObservations, ListReflections, ObserveEvent, ObserveSession, ReflectSummary,
    SearchMemories, StoreMemory,
};
use crate::{Chronicler, ChroniclerError, MemoryContext, MemorySettings};

/// The chronicler: memory of the user and of past conversations.
pub struct ChroniclerAgent {
    memory: MemorySystem,
}

impl ChroniclerAgent {
    /// Opens the memory of a database.
    pub async fn open(
        settings: MemorySettings,
        resources: MemoryResources,
    ) -> Result<Self, ChroniclerError> {
        Ok(Self::new(MemorySystem::open(settings, resources).await?))
    }

    /// Returns the chronicler of an open memory.
    pub fn new(memory: MemorySystem) -> Self {
        Self { memory }
    }

    /// Returns the chronicler's contributions to turns. Observing may call a model, so it runs in
    /// the background.
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
