//! Exports all of this program's tables in one snapshot, and imports them again.

use std::collections::BTreeMap;
use std::path::Path;

use bytes::Bytes;
use deadpool_postgres::Object;
use futures_util::{SinkExt as _, TryStreamExt as _};
use tokio_postgres::error::SqlState;

use super::failure::FailedAttempt;
use super::{MIGRATION_LOCK, PostgresDatabase, SharedPool, within};
use crate::backup::archive::{ArchiveReader, ArchiveWriter};
use crate::backup::{BackupEngine, BackupHeader, BackupInfo, BackupTable, file_error, now};
use crate::migration::{CREATE_VERSIONS, WRITE_VERSION};
use crate::{SchemaComponent, StoreError};

/// The marks of batches say nothing after a restore.
const LEFT_OUT: &str = "store_batches";

const VERSIONS: &str = "schema_versions";

const LIST_COLUMNS: &str = "SELECT attname::TEXT FROM pg_attribute \
     WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped AND attgenerated = '' \
     ORDER BY attnum";

const LIST_FUNCTIONS: &str = "SELECT oid::regprocedure::TEXT FROM pg_proc \
     WHERE pronamespace = current_schema()::regnamespace AND proname LIKE 'lango\\_%'";

/// Lets an identity column go on behind the highest restored value.
const LIST_IDENTITIES: &str = "SELECT attname::TEXT FROM pg_attribute \
     WHERE attrelid = to_regclass($1) AND attidentity <> ''";

impl PostgresDatabase {
    pub(crate) async fn create_backup(
        &self,
        file: &Path,
        components: &[SchemaComponent],
    ) -> Result<BackupInfo, StoreError> {
        let connection = self.shared.connection().await;
        let connection = connection.map_err(|failure| failure.into_error(&self.shared.location))?;
        let written = export(&connection, file, components).await;
        // A transaction and limits of its own: the connection is not used for anything else.
        drop(Object::take(connection));
        written.map_err(|failure| failure.into_error(&self.shared.location))
    }
}

async fn export(
    connection: &Object,
    file: &Path,
    components: &[SchemaComponent],
) -> Result<BackupInfo, FailedAttempt> {
    within(connection.batch_execute(
        "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; \
         BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    ))
    .await?;
    let versions = within(connection.query("SELECT component, version FROM schema_versions", &[]));
    let versions = versions.await?;
    let schema: BTreeMap<String, u32> = versions
        .iter()
        .map(|row| (row.get(0), u32::try_from(row.get::<_, i64>(1)).unwrap_or(u32::MAX)))
        .collect();
    // An incomplete backup would look like a complete one.
    crate::migration::check_versions(&schema, components).map_err(FailedAttempt::Final)?;
    let tables = list_tables(connection, components).await?;
    let tables: Vec<_> = tables.into_iter().filter(|table| table.name != LEFT_OUT).collect();
    let engine = BackupEngine::Postgres;
    let header = BackupHeader { engine, created_at: now(), schema, tables };
    let failed = || |error| FailedAttempt::Final(file_error(file)(error));
    let mut archive = ArchiveWriter::create(file, &header).map_err(failed())?;
    for table in &header.tables {
        let copy = format!("COPY {} ({}) TO STDOUT", table.name, quote(&table.columns));
        let rows = within(connection.copy_out(&copy)).await?;
        let mut rows = std::pin::pin!(rows);
        while let Some(content) = within(rows.try_next()).await? {
            archive.write_chunk(&content).map_err(failed())?;
        }
        archive.end_section().map_err(failed())?;
    }
    let (digest, bytes) = archive.finish().map_err(failed())?;
    Ok(BackupInfo::new(header, digest, bytes))
}

/// Returns the names of columns as SQL takes them, whatever words they are.
fn quote(columns: &[String]) -> String {
    let quoted: Vec<String> = columns.iter().map(|name| format!("\"{name}\"")).collect();
    quoted.join(", ")
}

/// Returns this program's tables that exist, with their columns.
async fn list_tables(
    connection: &Object,
    components: &[SchemaComponent],
) -> Result<Vec<BackupTable>, FailedAttempt> {
    let names: std::collections::BTreeSet<&str> =
        components.iter().flat_map(SchemaComponent::postgres_tables).collect();
    let mut tables = Vec::new();
    for name in names {
        let rows = within(connection.query(LIST_COLUMNS, &[&name])).await?;
        if !rows.is_empty() {
            let columns = rows.iter().map(|row| row.get(0)).collect();
            tables.push(BackupTable { name: name.to_owned(), columns });
        }
    }
    Ok(tables)
}

/// Replaces this program's tables with those of a backup, in one transaction. The old ones are moved
/// to another schema, whose name is returned.
pub(crate) async fn restore_backup(
    archive: ArchiveReader,
    header: &BackupHeader,
    url: &str,
    location: &str,
    components: &[SchemaComponent],
    force: bool,
) -> Result<Option<String>, StoreError> {
    let pool = super::connect::build_pool(url, location)?;
    let shared = SharedPool::new(pool, location.to_owned());
    let restored = async {
        let connection = shared.connection().await?;
        let restored = import(&connection, archive, header, location, components, force).await;
        // Closing the connection undoes what was not committed.
        drop(Object::take(connection));
        restored
    };
    restored.await.map_err(|failure: FailedAttempt| failure.into_error(location))
}

async fn import(
    connection: &Object,
    mut archive: ArchiveReader,
    header: &BackupHeader,
    location: &str,
    components: &[SchemaComponent],
    force: bool,
) -> Result<Option<String>, FailedAttempt> {
    within(connection.batch_execute(
        "SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0; BEGIN",
    ))
    .await?;
    within(connection.batch_execute(MIGRATION_LOCK)).await?;
    let old = list_tables(connection, components).await?;
    if !old.is_empty() && !force {
        let location = location.to_owned();
        return Err(FailedAttempt::Final(StoreError::NotEmpty { location }));
    }
    let kept = if old.is_empty() { None } else { Some(move_aside(connection, &old).await?) };
    create_schema(connection, header, components).await?;
    for table in &header.tables {
        let copy = format!("COPY {} ({}) FROM STDIN", table.name, quote(&table.columns));
        let sink = within(connection.copy_in::<_, Bytes>(&copy)).await?;
        let mut sink = std::pin::pin!(sink);
        let read = |error: std::io::Error| {
            FailedAttempt::Final(StoreError::query(&format!("the backup cannot be read: {error}")))
        };
        while let Some(chunk) = archive.read_chunk().map_err(read)? {
            within(sink.send(Bytes::from(chunk))).await?;
        }
        within(sink.finish()).await?;
        advance_identities(connection, &table.name).await?;
    }
    within(connection.batch_execute("COMMIT")).await?;
    Ok(kept)
}

/// Moves tables and functions to a new schema, with their indexes and sequences.
async fn move_aside(connection: &Object, tables: &[BackupTable]) -> Result<String, FailedAttempt> {
    let schema = format!("lango_before_{}", now());
    let mut sql = format!("CREATE SCHEMA {schema};");
    for table in tables.iter().map(|table| table.name.as_str()).chain([VERSIONS]) {
        sql.push_str(&format!("ALTER TABLE IF EXISTS {table} SET SCHEMA {schema};"));
    }
    for function in within(connection.query(LIST_FUNCTIONS, &[])).await? {
        let name: String = function.get(0);
        sql.push_str(&format!("ALTER FUNCTION {name} SET SCHEMA {schema};"));
    }
    within(connection.batch_execute(&sql)).await.map_err(|failure| match failure {
        FailedAttempt::Refused(error) if error.code() == Some(&SqlState::LOCK_NOT_AVAILABLE) => {
            let location = "on the server".to_owned();
            FailedAttempt::Final(StoreError::InUse { location })
        }
        other => other,
    })?;
    Ok(schema)
}

/// Creates the tables as they were when the backup was made.
async fn create_schema(
    connection: &Object,
    header: &BackupHeader,
    components: &[SchemaComponent],
) -> Result<(), FailedAttempt> {
    within(connection.batch_execute(CREATE_VERSIONS)).await?;
    for component in components {
        let Some(version) = header.schema.get(component.name) else { continue };
        for migration in component.migrations.iter().filter(|one| one.version <= *version) {
            connection.batch_execute(migration.postgres).await?;
        }
        let version = i64::from(*version);
        within(connection.execute(WRITE_VERSION, &[&component.name, &version])).await?;
    }
    Ok(())
}

async fn advance_identities(connection: &Object, table: &str) -> Result<(), FailedAttempt> {
    for row in within(connection.query(LIST_IDENTITIES, &[&table])).await? {
        let column: String = row.get(0);
        let advance = format!(
            "SELECT setval(pg_get_serial_sequence('{table}', '{column}'), \
             (SELECT COALESCE(MAX({column}), 0) + 1 FROM {table}), false)"
        );
        within(connection.query(&advance, &[])).await?;
    }
    Ok(())
}
