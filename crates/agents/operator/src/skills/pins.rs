//! Which content of a skill was allowed before.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, PoisonError, RwLock};

use lango_protocol::Timestamp;
use lango_store::{Component, Database, Migration, Statement, StoreError};

use super::Skill;
use crate::Records;

pub(crate) const COMPONENT: Component = Component {
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

/// The digests that were allowed, by directory.
#[derive(Debug, Clone)]
pub(crate) struct Pins {
    /// A lock because calls are proposed in parallel; it is held to look something up.
    known: Arc<RwLock<BTreeMap<String, String>>>,
}

impl Pins {
    pub(crate) async fn load(database: &Database) -> Result<Self, StoreError> {
        let statement = Statement::new("SELECT directory, digest FROM skill_pins").brief();
        let rows = database.query(statement).await?;
        let mut known = BTreeMap::new();
        for row in &rows {
            known.insert(row.text(0)?.to_owned(), row.text(1)?.to_owned());
        }
        Ok(Self { known: Arc::new(RwLock::new(known)) })
    }
}

impl Records {
    /// Whether a person allowed this skill as it is.
    pub fn is_pinned(&self, skill: &Skill) -> bool {
        self.pinned(&skill.directory).is_some_and(|digest| digest == skill.digest())
    }

    /// The content of a skill that a person allowed last.
    pub(super) fn pinned(&self, directory: &Path) -> Option<String> {
        let known = self.pins().known.read().unwrap_or_else(PoisonError::into_inner);
        known.get(&*directory.to_string_lossy()).cloned()
    }

    /// Notes that a person allowed a skill as it is.
    pub(super) async fn pin(&self, skill: &Skill) -> Result<(), StoreError> {
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
        let mut known = self.pins().known.write().unwrap_or_else(PoisonError::into_inner);
        known.insert(directory, skill.digest().to_owned());
        Ok(())
    }
}
