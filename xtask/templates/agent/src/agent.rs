//! The agent `sample` as assembly sees it: what it is opened with, and what it brings.

use lango_runtime::AgentParts;
use lango_store::{Database, StoreError};
use lango_tool::RegisteredTool;

use crate::notes::Notes;
use crate::tools::AddNote;

/// Says how the agent works. `lango-app` reads it from the configuration.
#[derive(Debug, Clone, Copy)]
pub struct SampleSettings {
    /// Limits one note, in bytes.
    pub max_note_bytes: usize,
}

impl Default for SampleSettings {
    fn default() -> Self {
        Self { max_note_bytes: 16 * 1024 }
    }
}

/// Holds what the agent works on.
pub struct SampleResources {
    /// The database that notes are stored in.
    pub database: Database,
}

/// Stores notes.
pub struct SampleAgent {
    settings: SampleSettings,
    notes: Notes,
}

impl SampleAgent {
    /// Opens the notes in the database.
    pub async fn open(
        settings: SampleSettings,
        resources: SampleResources,
    ) -> Result<Self, StoreError> {
        let SampleResources { database } = resources;
        Ok(Self { settings, notes: Notes::open(database).await? })
    }

    /// Returns what the agent contributes to turns.
    pub fn parts(&self) -> AgentParts {
        let tools = vec![RegisteredTool::new(AddNote::new(self.notes.clone(), self.settings))];
        AgentParts { tools, ..AgentParts::default() }
    }
}
