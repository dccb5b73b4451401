//! Collects the approval rules: those of the configuration and those that users stored with
//! "always".

use std::sync::Arc;

use lango_protocol::{AgentName, Timestamp};
use lango_store::{Database, Migration, SchemaComponent, Statement, StoreError};
use parking_lot::RwLock;

use super::rule::{Effect, Rule};

pub(crate) const COMPONENT: SchemaComponent = SchemaComponent {
    name: "approval_rules",
    migrations: &[Migration { version: 1, sqlite: TABLE, postgres: TABLE }],
};

const TABLE: &str = "
CREATE TABLE approval_rules (
    id TEXT NOT NULL PRIMARY KEY,
    rule TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    created_by TEXT NOT NULL
);
";

/// Holds all rules that are in force. Clones share the cache.
#[derive(Clone, Default)]
pub struct RuleBook {
    configured: Arc<[Rule]>,
    database: Option<Database>,
    /// The configured and stored rules as of the last read. A lock protects them because calls are
    /// decided in parallel; it is held only to copy a pointer.
    cached: Arc<RwLock<Arc<[Rule]>>>,
}

/// Represents a rule that a user stored.
#[derive(Debug, Clone)]
pub struct StoredRule {
    /// The rule.
    pub rule: Rule,
    /// The time at which it was stored.
    pub created_at: Timestamp,
    /// The user who stored it.
    pub created_by: String,
}

impl RuleBook {
    /// Opens the rules of the configuration and those in the database.
    pub async fn open(configured: Vec<Rule>, database: Database) -> Result<Self, StoreError> {
        database.migrate(&COMPONENT).await?;
        let book = Self {
            configured: configured.into(),
            database: Some(database),
            cached: Arc::default(),
        };
        book.load_rules().await?;
        Ok(book)
    }

    /// Returns a book with the rules of the configuration alone.
    pub fn with_rules(configured: Vec<Rule>) -> Self {
        let configured: Arc<[Rule]> = configured.into();
        let cached = Arc::new(RwLock::new(Arc::clone(&configured)));
        Self { configured, database: None, cached }
    }

    /// Reads the current rules.
    pub async fn load_rules(&self) -> Result<Arc<[Rule]>, StoreError> {
        let stored = self.list_stored_rules().await?;
        let rules: Arc<[Rule]> =
            self.configured.iter().cloned().chain(stored.into_iter().map(|s| s.rule)).collect();
        *self.cached.write() = Arc::clone(&rules);
        Ok(rules)
    }

    /// Returns the configured and stored rules as of the last read.
    pub(crate) fn cached_rules(&self) -> Arc<[Rule]> {
        Arc::clone(&self.cached.read())
    }

    /// Tells whether a cached rule asks about or denies calls of this tool.
    pub(crate) fn may_object_to(&self, tool: &str, agent: &AgentName) -> bool {
        let cached = self.cached.read();
        cached.iter().any(|rule| rule.effect != Effect::Allow && rule.may_apply_to(tool, agent))
    }

    /// Returns the rules that users stored, the oldest first.
    pub async fn list_stored_rules(&self) -> Result<Vec<StoredRule>, StoreError> {
        let Some(database) = &self.database else { return Ok(Vec::new()) };
        let statement = Statement::new(
            "SELECT id, rule, created_at, created_by FROM approval_rules ORDER BY created_at, id",
        );
        let rows = database.query(statement).await?;
        rows.iter()
            .map(|row| {
                let mut rule: Rule =
                    serde_json::from_str(row.text(1)?).map_err(|error| StoreError::Corrupt {
                        location: format!("approval rule {}", row.text(0).unwrap_or_default()),
                        reason: error.to_string(),
                    })?;
                row.text(0)?.clone_into(&mut rule.id);
                Ok(StoredRule {
                    rule,
                    created_at: Timestamp::from_microseconds(row.integer(2)?),
                    created_by: row.text(3)?.to_owned(),
                })
            })
            .collect()
    }

    /// Stores a rule and returns its id. Storing the same rule twice has no further effect.
    pub async fn add(&self, rule: &Rule, by: &str) -> Result<String, StoreError> {
        let Some(database) = &self.database else {
            return Err(StoreError::Conflict {
                reason: "there is no database to store rules in".to_owned(),
            });
        };
        let id = rule.derive_id();
        let text = serde_json::to_string(rule)
            .map_err(|error| StoreError::Conflict { reason: error.to_string() })?;
        let statement = Statement::new(
            "INSERT INTO approval_rules (id, rule, created_at, created_by) \
             VALUES ($1, $2, $3, $4) ON CONFLICT (id) DO NOTHING",
        )
        .bind(id.as_str())
        .bind(text)
        .bind(Timestamp::now().as_microseconds())
        .bind(by);
        database.write(statement.into()).await?;
        Ok(id)
    }

    /// Deletes a stored rule. Returns false if there was none.
    pub async fn revoke(&self, id: &str) -> Result<bool, StoreError> {
        let Some(database) = &self.database else { return Ok(false) };
        let statement = Statement::new("DELETE FROM approval_rules WHERE id = $1").bind(id);
        Ok(database.write(statement.into()).await? == [1])
    }
}
