//! Makes, checks and restores backups. A backup is one file with everything that the database has
//! at one moment, also while processes write.

pub(crate) mod archive;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use lango_protocol::Timestamp;
use serde::{Deserialize, Serialize};

use crate::database::DatabaseEngine;
use crate::{Database, DatabaseLocation, SchemaComponent, SqlDialect, StoreError};
use archive::ArchiveReader;

/// The header of a backup.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct BackupHeader {
    pub(crate) engine: BackupEngine,
    pub(crate) created_at: i64,
    /// The version of each part of the schema.
    pub(crate) schema: BTreeMap<String, u32>,
    /// The tables in the order of their sections (PostgreSQL).
    pub(crate) tables: Vec<BackupTable>,
}

/// The engine that a backup was made of, and can be restored to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BackupEngine {
    /// SQLite.
    Sqlite,
    /// PostgreSQL.
    Postgres,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct BackupTable {
    pub(crate) name: String,
    pub(crate) columns: Vec<String>,
}

/// Describes a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BackupInfo {
    /// The engine.
    pub engine: BackupEngine,
    /// When it was made, in microseconds since the epoch.
    pub created_at: i64,
    /// The version of each part of the schema.
    pub schema: BTreeMap<String, u32>,
    /// The SHA-256 of its content, in hexadecimal.
    pub digest: String,
    /// The size of the file.
    pub bytes: u64,
}

impl BackupInfo {
    pub(crate) fn new(header: BackupHeader, digest: String, bytes: u64) -> Self {
        let BackupHeader { engine, created_at, schema, .. } = header;
        Self { engine, created_at, schema, digest, bytes }
    }
}

/// The result of a restore.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RestoreReport {
    /// The backup.
    pub backup: BackupInfo,
    /// Where the database that was there before is kept: a file, or a schema of PostgreSQL.
    pub kept: Option<String>,
}

impl Database {
    /// Writes a backup to a new file. Processes may write meanwhile; the backup is of one moment.
    /// `components` are all parts of the schema that this program knows.
    pub async fn create_backup(
        &self,
        file: &Path,
        components: &[SchemaComponent],
    ) -> Result<BackupInfo, StoreError> {
        match &*self.engine {
            DatabaseEngine::Sqlite(database) => database.create_backup(file).await,
            DatabaseEngine::Postgres(database) => database.create_backup(file, components).await,
        }
    }
}

/// Checks a backup: its digest, and that this program can restore it.
pub async fn verify_backup(
    file: &Path,
    components: &[SchemaComponent],
) -> Result<BackupInfo, StoreError> {
    let (path, components) = (file.to_owned(), components.to_vec());
    run_blocking(move || {
        let (archive, info) = open_archive(&path, &components)?;
        if info.engine == BackupEngine::Sqlite {
            crate::sqlite::check_backup(archive, &path)?;
        }
        Ok(info)
    })
    .await
}

/// Replaces a database with a backup. The one that was there is kept aside, and only touched if
/// `force` is set.
pub async fn restore_backup(
    file: &Path,
    location: &DatabaseLocation,
    components: &[SchemaComponent],
    force: bool,
) -> Result<RestoreReport, StoreError> {
    let (path, known) = (file.to_owned(), components.to_vec());
    let (archive, header, info) = run_blocking(move || {
        let (archive, header, digest, bytes) = read_header(&path)?;
        check_schema(&header, &known)?;
        Ok((archive, header.clone(), BackupInfo::new(header, digest, bytes)))
    })
    .await?;
    let (engine, wanted) = match location {
        DatabaseLocation::Sqlite(_) => (BackupEngine::Sqlite, SqlDialect::Sqlite),
        DatabaseLocation::Postgres(_) => (BackupEngine::Postgres, SqlDialect::Postgres),
    };
    if engine != header.engine {
        let reason = format!("it is of {:?}, and the database is {wanted:?}", header.engine);
        return Err(backup_error(file, reason));
    }
    let kept = match location {
        DatabaseLocation::Sqlite(target) => {
            let target = target.clone();
            run_blocking(move || crate::sqlite::restore_backup(archive, &target, force)).await?
        }
        DatabaseLocation::Postgres(url) => {
            let name = location.to_string();
            crate::postgres::restore_backup(archive, &header, url, &name, components, force).await?
        }
    };
    Ok(RestoreReport { backup: info, kept })
}

fn open_archive(
    path: &Path,
    components: &[SchemaComponent],
) -> Result<(ArchiveReader, BackupInfo), StoreError> {
    let (archive, header, digest, bytes) = read_header(path)?;
    check_schema(&header, components)?;
    Ok((archive, BackupInfo::new(header, digest, bytes)))
}

fn read_header(path: &Path) -> Result<(ArchiveReader, BackupHeader, String, u64), StoreError> {
    ArchiveReader::open(path).map_err(|error| backup_error(path, error.to_string()))
}

/// Refuses what only a newer program can read.
fn check_schema(header: &BackupHeader, components: &[SchemaComponent]) -> Result<(), StoreError> {
    crate::migration::check_versions(&header.schema, components)
}

pub(crate) fn backup_error(path: &Path, reason: impl Into<String>) -> StoreError {
    StoreError::Backup { file: path.display().to_string(), reason: reason.into() }
}

pub(crate) fn file_error(path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    move |error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            backup_error(path, "the file exists already, and is not overwritten")
        }
        _ => backup_error(path, error.to_string()),
    }
}

/// Returns the time of a new backup.
pub(crate) fn now() -> i64 {
    Timestamp::now().as_microseconds()
}

/// Runs what waits for the disk on a thread of its own.
pub(crate) async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    tokio::task::spawn_blocking(work).await.map_err(|error| StoreError::query(&error))?
}
