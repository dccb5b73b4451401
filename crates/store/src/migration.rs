//! Defines versioned schemas. Each crate has its own component; the engine runs the migrations.

use std::collections::BTreeMap;

use crate::StoreError;

/// One step of a component's schema.
#[derive(Debug, Clone, Copy)]
pub struct Migration {
    /// The version of the database after this step.
    pub version: u32,
    /// The SQL for SQLite.
    pub sqlite: &'static str,
    /// The SQL for PostgreSQL.
    pub postgres: &'static str,
}

/// A part of the schema with its own version.
#[derive(Debug, Clone, Copy)]
pub struct SchemaComponent {
    /// Its name in the table `schema_versions`.
    pub name: &'static str,
    /// Its steps in ascending order of version.
    pub migrations: &'static [Migration],
}

fn is_outside_name(character: char) -> bool {
    !character.is_alphanumeric() && character != '_'
}

pub(crate) const READ_VERSION: &str = "SELECT version FROM schema_versions WHERE component = $1";

pub(crate) const CREATE_VERSIONS: &str = "CREATE TABLE IF NOT EXISTS schema_versions (\
     component TEXT NOT NULL PRIMARY KEY, version BIGINT NOT NULL)";

pub(crate) const WRITE_VERSION: &str = "INSERT INTO schema_versions (component, version) \
     VALUES ($1, $2) ON CONFLICT (component) DO UPDATE SET version = excluded.version";

/// Returns an error if a version is newer than this program, or of a component that it does not know.
pub(crate) fn check_versions(
    found: &BTreeMap<String, u32>,
    components: &[SchemaComponent],
) -> Result<(), StoreError> {
    for (name, version) in found {
        let component = components.iter().find(|component| component.name == name);
        let known = component.map_or(0, SchemaComponent::latest_version);
        if *version > known {
            let component = name.clone();
            return Err(StoreError::NewerSchema { component, found: *version, known });
        }
    }
    Ok(())
}

impl SchemaComponent {
    /// Returns the names of the tables that a version of the component has had in PostgreSQL.
    pub(crate) fn postgres_tables(&self) -> impl Iterator<Item = &'static str> {
        self.migrations.iter().flat_map(|migration| {
            ["CREATE TABLE ", "RENAME TO "].into_iter().flat_map(|keyword| {
                migration.postgres.split(keyword).skip(1).filter_map(|rest| {
                    rest.trim_start_matches("IF NOT EXISTS ").split(is_outside_name).next()
                })
            })
        })
    }

    /// Returns the latest version that this program supports.
    pub(crate) fn latest_version(&self) -> u32 {
        self.migrations.last().map_or(0, |migration| migration.version)
    }

    /// Returns the steps that a database at version `found` is missing.
    pub(crate) fn pending_migrations(
        &self,
        found: i64,
    ) -> Result<&'static [Migration], StoreError> {
        let found = u32::try_from(found).unwrap_or(u32::MAX);
        let known = self.latest_version();
        if found > known {
            return Err(StoreError::NewerSchema { component: self.name.into(), found, known });
        }
        let first = self.migrations.partition_point(|migration| migration.version <= found);
        Ok(&self.migrations[first..])
    }
}
