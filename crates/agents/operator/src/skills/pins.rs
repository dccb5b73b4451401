//! Remembers which content of a skill was allowed before.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use lango_protocol::Timestamp;
use lango_store::{Database, Migration, SchemaComponent, Statement, StoreError};
use parking_lot::RwLock;

use super::Skill;
use crate::Records;

pub(crate) const COMPONENT: SchemaComponent = SchemaComponent {
    name: "skill_pins",
    migrations: &[Migration { version: 1, sqlite: TABLE, postgres: TABLE }],
};

const TABLE: &str = "
CREATE TABLE skill_pins (
    directory TEXT NOT NULL PRIMARY KEY,
    digest TEXT NOT NULL,
    pinned_at BIGINT NOT NULL
);
";

/// Holds the digests that were allowed, by directory.
#[derive(Debug, Clone)]
pub(crate) struct Pins {
    /// A lock because calls are proposed in parallel; it is held for a lookup only.
    allowed: Arc<RwLock<BTreeMap<String, String>>>,
}

impl Pins {
    pub(crate) async fn load(database: &Database) -> Result<Self, StoreError> {
        let statement = Statement::new("SELECT directory, digest FROM skill_pins");
        let rows = database.query(statement).await?;
        let mut allowed = BTreeMap::new();
        for row in &rows {
            allowed.insert(row.text(0)?.to_owned(), row.text(1)?.to_owned());
        }
        Ok(Self { allowed: Arc::new(RwLock::new(allowed)) })
    }
}

impl Records {
    /// Tells whether the user allowed this skill with its present content.
    pub fn is_pinned(&self, skill: &Skill) -> bool {
        self.pinned(&skill.directory).is_some_and(|digest| digest == skill.digest())
    }

    /// Returns the digest of the content that the user allowed last.
    pub(super) fn pinned(&self, directory: &Path) -> Option<String> {
        let allowed = self.pins().allowed.read();
        allowed.get(&*directory.to_string_lossy()).cloned()
    }

    /// Records that the user allowed a skill with its present content.
    pub async fn pin(&self, skill: &Skill) -> Result<(), StoreError> {
        let directory = skill.directory.to_string_lossy().into_owned();
        let statement = Statement::new(
            "INSERT INTO skill_pins (directory, digest, pinned_at) VALUES ($1, $2, $3) \
             ON CONFLICT (directory) DO UPDATE SET digest = excluded.digest, \
             pinned_at = excluded.pinned_at",
        )
        .bind(directory.as_str())
        .bind(skill.digest())
        .bind(Timestamp::now().as_microseconds());
        self.database().write(statement.into()).await?;
        let mut allowed = self.pins().allowed.write();
        allowed.insert(directory, skill.digest().to_owned());
        Ok(())
    }
}
