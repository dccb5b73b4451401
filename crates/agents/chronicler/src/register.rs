//! Which tools the chronicler brings.

use lango_tool::{DuplicateTool, ToolRegistry};

use crate::memory::Memory;
use crate::tools::{
    Forget, ListObservations, ListReflections, ObserveEvent, ObserveSession, ReflectSummary,
    SearchMemories, StoreMemory,
};

/// Adds the chronicler's tools. They work once the memory is connected to a database.
pub fn register(registry: &mut ToolRegistry, memory: &Memory) -> Result<(), DuplicateTool> {
    registry.add(ListObservations { memory: memory.clone() })?;
    registry.add(ListReflections { memory: memory.clone() })?;
    registry.add(SearchMemories { memory: memory.clone() })?;
    registry.add(StoreMemory { memory: memory.clone() })?;
    registry.add(Forget { memory: memory.clone() })?;
    registry.add(ObserveEvent { memory: memory.clone() })?;
    registry.add(ObserveSession { memory: memory.clone() })?;
    registry.add(ReflectSummary { memory: memory.clone() })
}
