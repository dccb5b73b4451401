//! Workflows that are saved under a name.

use lango_protocol::{Space, Timestamp};
use lango_store::Statement;
use lango_workflow::Definition;
use serde::Serialize;

use super::Workflows;
use crate::AutomatorError;

/// Limits the workflows of one owner.
const MAX_SAVED_COUNT: usize = 200;

/// A saved workflow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SavedWorkflow {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// The time when it was saved.
    pub updated: Timestamp,
    /// Its definition.
    #[serde(skip)]
    pub text: String,
}

impl Workflows {
    /// Saves a workflow under its own name. One with this name is replaced; runs keep theirs.
    pub async fn save(&self, text: &str, space: &Space) -> Result<SavedWorkflow, AutomatorError> {
        let definition = Definition::parse(text)?;
        let saved = self.list_saved(space).await?;
        if saved.len() >= MAX_SAVED_COUNT && !saved.iter().any(|one| one.name == definition.name) {
            let reason = format!(
                "there are {MAX_SAVED_COUNT} workflows already. Remove one: lango workflow remove NAME"
            );
            return Err(AutomatorError::Refused(reason));
        }
        let now = Timestamp::now();
        let statement = Statement::new(
            "INSERT INTO workflow_definitions (client, name, text, description, updated_at) \
             VALUES ($1, $2, $3, $4, $5) ON CONFLICT (client, name) DO UPDATE SET text = $3, \
             description = $4, updated_at = $5",
        )
        .bind(space.as_stored())
        .bind(definition.name.as_str())
        .bind(text)
        .bind(definition.description.as_str())
        .bind(now.as_microseconds());
        self.jobs.database.write(statement.into()).await?;
        let saved = SavedWorkflow {
            name: definition.name,
            description: definition.description,
            updated: now,
            text: text.to_owned(),
        };
        self.jobs.known_workflows.remember(space, &saved);
        Ok(saved)
    }

    /// Returns the saved workflows of an owner, by name.
    pub async fn list_saved(&self, space: &Space) -> Result<Vec<SavedWorkflow>, AutomatorError> {
        let statement = Statement::new(
            "SELECT name, description, updated_at, text FROM workflow_definitions WHERE client = $1 \
             ORDER BY name",
        )
        .bind(space.as_stored());
        let rows = self.jobs.database.query(statement).await?;
        let mut list = Vec::with_capacity(rows.len());
        for row in &rows {
            list.push(SavedWorkflow {
                name: row.text(0)?.to_owned(),
                description: row.text(1)?.to_owned(),
                updated: Timestamp::from_microseconds(row.integer(2)?),
                text: row.text(3)?.to_owned(),
            });
        }
        self.jobs.known_workflows.replace(space, &list);
        Ok(list)
    }

    /// Returns a saved workflow.
    pub async fn find_saved(
        &self,
        name: &str,
        space: &Space,
    ) -> Result<SavedWorkflow, AutomatorError> {
        let saved = self.list_saved(space).await?;
        let unknown = || AutomatorError::UnknownWorkflow(name.to_owned());
        saved.into_iter().find(|one| one.name == name.trim()).ok_or_else(unknown)
    }

    /// Removes a saved workflow. Its runs go on.
    pub async fn remove_saved(&self, name: &str, space: &Space) -> Result<(), AutomatorError> {
        let statement =
            Statement::new("DELETE FROM workflow_definitions WHERE client = $1 AND name = $2")
                .bind(space.as_stored())
                .bind(name);
        if self.jobs.database.write(statement.into()).await? != [1] {
            return Err(AutomatorError::UnknownWorkflow(name.to_owned()));
        }
        self.list_saved(space).await.map(drop)
    }
}
