//! Holds all tools of one process, in a stable order.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::{RegisteredTool, Tool};

/// Reports two tools with the same name: a mistake in the assembly.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("two tools are called {0:?}")]
pub struct DuplicateTool(pub String);

/// Holds the tools of a process, by name. It is filled at start, then only read.
#[derive(Debug, Clone, Default)]
pub struct ToolRegistry {
    tools: BTreeMap<Arc<str>, Arc<RegisteredTool>>,
}

impl ToolRegistry {
    /// Creates an empty registry.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a typed tool.
    pub fn add<T: Tool>(&mut self, tool: T) -> Result<(), DuplicateTool> {
        self.add_registered(RegisteredTool::new(tool))
    }

    /// Adds a tool that is already erased.
    pub fn add_registered(&mut self, tool: RegisteredTool) -> Result<(), DuplicateTool> {
        let name = Arc::clone(&tool.declaration.name);
        if self.tools.contains_key(&name) {
            return Err(DuplicateTool(name.to_string()));
        }
        self.tools.insert(name, Arc::new(tool));
        Ok(())
    }

    /// Returns a registry of only the tools that are to be kept.
    #[must_use]
    pub fn only(&self, keep: impl Fn(&str) -> bool) -> Self {
        let mut tools = self.tools.clone();
        tools.retain(|name, _| keep(name));
        Self { tools }
    }

    /// Returns the tool of exactly this name.
    pub fn get(&self, name: &str) -> Option<&Arc<RegisteredTool>> {
        self.tools.get(name)
    }

    /// Returns all tools, by name.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<RegisteredTool>> {
        self.tools.values()
    }

    /// Returns all names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(AsRef::as_ref)
    }
}
