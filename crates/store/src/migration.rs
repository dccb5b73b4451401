//! Schemas by version. Each crate brings its own component; who runs the texts is the engine.

use crate::StoreError;

/// One step of a component's schema.
#[derive(Debug, Clone, Copy)]
pub struct Migration {
    /// The version the database has after this step.
    pub version: u32,
    /// The text for SQLite.
    pub sqlite: &'static str,
    /// The text for PostgreSQL.
    pub postgres: &'static str,
}

/// A part of the schema that is versioned on its own.
#[derive(Debug, Clone, Copy)]
pub struct Component {
    /// Its name in the table `schema_versions`.
    pub name: &'static str,
    /// Its steps in ascending order of version.
    pub migrations: &'static [Migration],
}

pub(crate) const READ_VERSION: &str = "SELECT version FROM schema_versions WHERE component = $1";

pub(crate) const CREATE_VERSIONS: &str = "CREATE TABLE IF NOT EXISTS schema_versions (\
     component TEXT NOT NULL PRIMARY KEY, version BIGINT NOT NULL)";

pub(crate) const WRITE_VERSION: &str = "INSERT INTO schema_versions (component, version) \
     VALUES ($1, $2) ON CONFLICT (component) DO UPDATE SET version = excluded.version";

impl Component {
    /// The latest version this program knows.
    pub(crate) fn known(&self) -> u32 {
        self.migrations.last().map_or(0, |migration| migration.version)
    }

    /// The steps that are missing from a database at version `found`.
    pub(crate) fn pending(&self, found: i64) -> Result<&'static [Migration], StoreError> {
        let found = u32::try_from(found).unwrap_or(u32::MAX);
        let known = self.known();
        if found > known {
            return Err(StoreError::NewerSchema { component: self.name.into(), found, known });
        }
        let first = self.migrations.partition_point(|migration| migration.version <= found);
        Ok(&self.migrations[first..])
    }
}
