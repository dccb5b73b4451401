//! What this process knows of saved workflows and of the team, for questions that are put together without
//! a look at the database.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use lango_protocol::Space;
use lango_store::{Statement, StoreError};
use lango_tool::SafetyLevel;
use parking_lot::Mutex;

use super::SavedWorkflow;
use crate::{AutomatorError, JobBook};

/// The saved workflows, the tools and the agents that are known here. Locked to look something up, and never while
/// anything is waited for.
#[derive(Default)]
pub(crate) struct KnownWorkflows {
    texts: Mutex<BTreeMap<(Space, String), String>>,
    levels: Mutex<BTreeMap<String, SafetyLevel>>,
    /// The agents of the team; absent in a process without one.
    agents: Mutex<Option<BTreeSet<String>>>,
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

    /// Returns the definition of an owner that is known under a name.
    pub(crate) fn find(&self, space: &Space, name: &str) -> Option<String> {
        self.texts.lock().get(&(space.clone(), name.trim().to_owned())).cloned()
    }

    /// Notes how much harm tools can do, and the names of the agents.
    pub(crate) fn set_team(&self, levels: BTreeMap<String, SafetyLevel>, agents: BTreeSet<String>) {
        *self.levels.lock() = levels;
        *self.agents.lock() = Some(agents);
    }

    /// Refuses the name of an agent that the team does not have.
    pub(crate) fn check_agent(&self, name: &str) -> Result<(), AutomatorError> {
        match &*self.agents.lock() {
            Some(agents) if !agents.contains(name) => {
                let reason = format!("there is no agent {name}. See: lango agents list");
                Err(AutomatorError::Refused(reason))
            }
            _ => Ok(()),
        }
    }

    /// Returns how much harm a tool can do, and none if it is not known.
    pub(crate) fn level(&self, tool: &str) -> Option<SafetyLevel> {
        self.levels.lock().get(tool).copied()
    }
}

/// The definition of a saved workflow as it was shown in the question about a call. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct ShownDefinition(Arc<OnceLock<String>>);

impl ShownDefinition {
    /// Returns the definition that a question shows, which stays the same for the call.
    pub(crate) fn show(&self, known: &KnownWorkflows, space: &Space, name: &str) -> Option<String> {
        if let Some(shown) = self.0.get() {
            return Some(shown.clone());
        }
        let text = known.find(space, name)?;
        Some(self.0.get_or_init(|| text).clone())
    }

    /// Refuses a definition other than the one that was shown.
    pub(crate) fn check(&self, saved: &SavedWorkflow) -> Result<(), AutomatorError> {
        if self.0.get().is_none_or(|shown| *shown == saved.text) {
            return Ok(());
        }
        let name = &saved.name;
        let reason =
            format!("the workflow {name} was changed since it was asked about. Ask once more");
        Err(AutomatorError::Refused(reason))
    }
}
