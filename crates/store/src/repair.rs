//! Finds damage of a database, and repairs it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::database::DatabaseEngine;
use crate::migration::check_versions;
use crate::{
    Database, DatabaseLocation, Journal, SchemaComponent, SqlDialect, Statement, StoreError,
};

/// What a repair did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct RepairReport {
    /// What was done, in sentences.
    pub actions: Vec<String>,
    /// Where the files from before are kept.
    pub kept: Option<String>,
}

/// Repairs a database of SQLite that no process uses. Its files are kept under another name.
pub async fn repair_database(location: &DatabaseLocation) -> Result<RepairReport, StoreError> {
    match location {
        DatabaseLocation::Sqlite(path) => {
            let (path, is_there) = (path.clone(), path.exists());
            let repair = move || crate::sqlite::repair(&path);
            let mut report = crate::backup::run_blocking(repair).await?;
            if is_there {
                remove_damaged_events(location, &mut report).await?;
            }
            Ok(report)
        }
        DatabaseLocation::Postgres(_) => {
            Err(StoreError::NoRepair { location: location.to_string() })
        }
    }
}

async fn remove_damaged_events(
    location: &DatabaseLocation,
    report: &mut RepairReport,
) -> Result<(), StoreError> {
    let database = Database::open(location).await?;
    let journal = Journal::open(database.clone()).await?;
    for (session, seq) in journal.remove_damaged_events().await? {
        report.actions.push(format!("session {session}: event {seq} was damaged and is left out"));
    }
    database.close().await;
    Ok(())
}

impl Database {
    /// Reads the whole database, and returns what its engine finds wrong with it. PostgreSQL checks
    /// its pages itself, when they are read.
    pub async fn find_damage(&self) -> Result<Vec<String>, StoreError> {
        match &*self.engine {
            DatabaseEngine::Sqlite(database) => database.find_damage().await,
            DatabaseEngine::Postgres(_) => Ok(Vec::new()),
        }
    }

    /// Returns an error if a program that knows these parts of the schema may not use the database,
    /// or if nothing can be written to it.
    pub async fn check_usable(&self, components: &[SchemaComponent]) -> Result<(), StoreError> {
        let rows =
            self.query(Statement::new("SELECT component, version FROM schema_versions")).await?;
        let mut versions = BTreeMap::new();
        for row in &rows {
            let version = u32::try_from(row.integer(1)?).unwrap_or(u32::MAX);
            versions.insert(row.text(0)?.to_owned(), version);
        }
        check_versions(&versions, components)?;
        if self.dialect() == SqlDialect::Postgres {
            let setting = "SELECT current_setting('transaction_read_only')";
            let rows = self.query(Statement::new(setting)).await?;
            if rows.first().is_some_and(|row| row.text(0) == Ok("on")) {
                let location = self.location().to_owned();
                let reason = "the server allows no changes (a standby, or \
                              default_transaction_read_only)";
                return Err(StoreError::Open { location, reason: reason.into() });
            }
        }
        Ok(())
    }
}
