//! What this process knows of saved workflows and of tools, for questions that are put together without a
//! look at the database.

use std::collections::BTreeMap;

use lango_protocol::Space;
use lango_store::{Statement, StoreError};
use lango_tool::SafetyLevel;
use parking_lot::Mutex;

use super::SavedWorkflow;
use crate::JobBook;

/// The saved workflows and the tools that are known here. Locked to look something up, and never while
/// anything is waited for.
#[derive(Default)]
pub(crate) struct KnownWorkflows {
    texts: Mutex<BTreeMap<(Space, String), String>>,
    levels: Mutex<BTreeMap<String, SafetyLevel>>,
}

impl JobBook {
    /// Reads the saved workflows of all owners, so that questions about them can be put together.
    pub(crate) async fn load_known_workflows(&self) -> Result<(), StoreError> {
        let statement = Statement::new("SELECT client, name, text FROM workflow_definitions");
        let mut texts = BTreeMap::new();
        for row in self.database.query(statement).await? {
            if let Ok(space) = Space::from_stored(row.text(0)?) {
                texts.insert((space, row.text(1)?.to_owned()), row.text(2)?.to_owned());
            }
        }
        *self.known_workflows.texts.lock() = texts;
        Ok(())
    }
}

impl KnownWorkflows {
    /// Notes a workflow that was saved.
    pub(crate) fn remember(&self, space: &Space, saved: &SavedWorkflow) {
        self.texts.lock().insert((space.clone(), saved.name.clone()), saved.text.clone());
    }

    /// Replaces all that is known of an owner.
    pub(crate) fn replace(&self, space: &Space, saved: &[SavedWorkflow]) {
        let mut texts = self.texts.lock();
        texts.retain(|(owner, _), _| owner != space);
        for one in saved {
            texts.insert((space.clone(), one.name.clone()), one.text.clone());
        }
    }

    /// Returns the one definition that is known under a name; none if there are several, of different
    /// owners.
    pub(crate) fn find_one(&self, name: &str) -> Option<String> {
        let texts = self.texts.lock();
        let mut known = texts.iter().filter(|((_, known), _)| known == name.trim());
        let (_, text) = known.next()?;
        known.all(|(_, other)| other == text).then(|| text.clone())
    }

    /// Notes how much harm tools can do.
    pub(crate) fn set_levels(&self, levels: BTreeMap<String, SafetyLevel>) {
        *self.levels.lock() = levels;
    }

    /// Returns how much harm a tool can do, and none if it is not known.
    pub(crate) fn level(&self, tool: &str) -> Option<SafetyLevel> {
        self.levels.lock().get(tool).copied()
    }
}
