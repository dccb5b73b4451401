//! Stores which entries of projects' files a person approved, by their content.

use std::collections::BTreeMap;
use std::sync::Arc;

use lango_protocol::Timestamp;
use lango_store::{Batch, Database, Migration, SchemaComponent, Statement, StoreError};
use parking_lot::RwLock;

use super::ServerConfig;
use super::config::ConfigSource;

pub(crate) const COMPONENT: SchemaComponent = SchemaComponent {
    name: "mcp_project_entries",
    migrations: &[Migration { version: 1, sqlite: TABLE, postgres: TABLE }],
};

const TABLE: &str = "
CREATE TABLE mcp_project_entries (
    directory TEXT NOT NULL,
    name TEXT NOT NULL,
    digest TEXT NOT NULL,
    decision TEXT NOT NULL,
    decided_at BIGINT NOT NULL,
    PRIMARY KEY (directory, name)
);
";

const APPROVED: &str = "approved";
const DECLINED: &str = "declined";

/// The approval state of a server's entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum EntryState {
    /// A person approved exactly this entry, or it is in the user's own configuration.
    Approved,
    /// No person decided about an entry of this name.
    New,
    /// It differs from the entry that a person decided about.
    Changed,
    /// A person declined exactly this entry, or took the approval back.
    Declined,
}

struct Decision {
    digest: String,
    is_approval: bool,
}

/// Holds all decisions. Clones share them.
#[derive(Clone)]
pub(crate) struct EntryApprovals {
    database: Database,
    /// The decisions by directory and name. The lock is held for a lookup.
    decisions: Arc<RwLock<BTreeMap<(String, String), Decision>>>,
}

impl EntryApprovals {
    pub(crate) async fn open(database: Database) -> Result<Self, StoreError> {
        database.migrate(&COMPONENT).await?;
        Ok(Self { database, decisions: Arc::default() })
    }

    /// Reads the database again.
    pub(crate) async fn load(&self) -> Result<(), StoreError> {
        let sql = "SELECT directory, name, digest, decision FROM mcp_project_entries";
        let mut decisions = BTreeMap::new();
        for row in self.database.query(Statement::new(sql)).await? {
            let key = (row.text(0)?.to_owned(), row.text(1)?.to_owned());
            let is_approval = row.text(3)? == APPROVED;
            decisions.insert(key, Decision { digest: row.text(2)?.to_owned(), is_approval });
        }
        *self.decisions.write() = decisions;
        Ok(())
    }

    /// Returns the state of a server's entry.
    pub(crate) fn state(&self, config: &ServerConfig) -> EntryState {
        let ConfigSource::Project(entry) = &config.source else { return EntryState::Approved };
        let key = (config.source.scope(), config.name.to_string());
        match self.decisions.read().get(&key) {
            None => EntryState::New,
            Some(decision) if decision.digest != entry.digest => EntryState::Changed,
            Some(decision) if decision.is_approval => EntryState::Approved,
            Some(_) => EntryState::Declined,
        }
    }

    /// Stores a person's decision about a server's entry as it is now.
    pub(crate) async fn decide(
        &self,
        config: &ServerConfig,
        is_approval: bool,
    ) -> Result<(), StoreError> {
        let ConfigSource::Project(entry) = &config.source else { return Ok(()) };
        let statement = Statement::new(
            "INSERT INTO mcp_project_entries (directory, name, digest, decision, decided_at) \
             VALUES ($1, $2, $3, $4, $5) ON CONFLICT (directory, name) DO UPDATE SET \
             digest = excluded.digest, decision = excluded.decision, \
             decided_at = excluded.decided_at",
        )
        .bind(config.source.scope())
        .bind(config.name.as_str())
        .bind(entry.digest.as_str())
        .bind(if is_approval { APPROVED } else { DECLINED })
        .bind(Timestamp::now().as_microseconds());
        self.database.write(Batch::new().with(statement)).await?;
        let key = (config.source.scope(), config.name.to_string());
        let decision = Decision { digest: entry.digest.clone(), is_approval };
        self.decisions.write().insert(key, decision);
        Ok(())
    }
}
