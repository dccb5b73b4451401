//! Defines the database handle, which hides the engine.

use std::sync::Arc;
use std::time::Duration;

use crate::postgres::PostgresDatabase;
use crate::sqlite::SqliteDatabase;
use crate::{
    Batch, DatabaseLocation, Durability, Row, RowView, SchemaComponent, Statement, StoreError,
};

/// The engine behind a handle, for the rare statement that cannot be written for both.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SqlDialect {
    /// SQLite.
    Sqlite,
    /// PostgreSQL.
    Postgres,
}

/// How the store treats commits that are acknowledged to a user or a client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum DurabilityPolicy {
    /// They are on the disk before they are acknowledged.
    #[default]
    Full,
    /// A power failure may undo the newest ones. Effects are on the disk in any case.
    Normal,
}

impl DurabilityPolicy {
    /// Tells whether a commit waits for the disk.
    pub(crate) fn must_sync(self, durability: Durability) -> bool {
        match durability {
            Durability::ProcessCrash => false,
            Durability::Acknowledged => self == Self::Full,
            Durability::PowerLoss => true,
        }
    }
}

/// An open database. Clones share the connections; dropping the last one closes them.
#[derive(Clone)]
pub struct Database {
    pub(crate) engine: Arc<DatabaseEngine>,
}

pub(crate) enum DatabaseEngine {
    Sqlite(SqliteDatabase),
    Postgres(PostgresDatabase),
}

impl Database {
    /// Opens a database. A missing SQLite file is created, readable by its owner only.
    pub async fn open(location: &DatabaseLocation) -> Result<Self, StoreError> {
        Self::open_with(location, DurabilityPolicy::default()).await
    }

    /// Opens a database with a policy about acknowledged commits.
    pub async fn open_with(
        location: &DatabaseLocation,
        policy: DurabilityPolicy,
    ) -> Result<Self, StoreError> {
        let engine = match location {
            DatabaseLocation::Sqlite(path) => {
                DatabaseEngine::Sqlite(SqliteDatabase::open(path, policy).await?)
            }
            DatabaseLocation::Postgres(url) => {
                DatabaseEngine::Postgres(PostgresDatabase::open(url, location.to_string()).await?)
            }
        };
        Ok(Self { engine: Arc::new(engine) })
    }

    /// Returns the engine.
    pub fn dialect(&self) -> SqlDialect {
        match &*self.engine {
            DatabaseEngine::Sqlite(_) => SqlDialect::Sqlite,
            DatabaseEngine::Postgres(_) => SqlDialect::Postgres,
        }
    }

    /// Brings a component's tables up to date. Costs one read if they already are.
    pub async fn migrate(&self, component: &SchemaComponent) -> Result<(), StoreError> {
        match &*self.engine {
            DatabaseEngine::Sqlite(database) => database.migrate(*component).await,
            // Retries make these futures large, and every caller would hold one, on SQLite too.
            DatabaseEngine::Postgres(database) => Box::pin(database.migrate(component)).await,
        }
    }

    /// Writes all statements of a batch, or none, and returns how many rows each one changed. A
    /// batch that was submitted is finished even if the caller stops waiting for it.
    pub async fn write(&self, batch: Batch) -> Result<Vec<u64>, StoreError> {
        let written = match &*self.engine {
            DatabaseEngine::Sqlite(database) => database.write(batch).await,
            DatabaseEngine::Postgres(database) => Box::pin(database.write(batch)).await,
        };
        written.inspect_err(|error| log_failure("write", error))
    }

    /// Runs a query. It sees every batch whose `write` returned before. The statement must not
    /// change anything, because it may be run again if a connection breaks.
    pub async fn query(&self, statement: Statement) -> Result<Vec<Row>, StoreError> {
        let read = match &*self.engine {
            DatabaseEngine::Sqlite(database) => database.query(statement).await,
            DatabaseEngine::Postgres(database) => Box::pin(database.query(statement)).await,
        };
        read.inspect_err(|error| log_failure("read", error))
    }

    /// Reads rows one by one into `state`, without keeping them. The rules of [`Database::query`]
    /// apply; if a connection breaks, it restarts with the initial state.
    pub async fn fold<T, F>(&self, statement: Statement, state: T, step: F) -> Result<T, StoreError>
    where
        T: Clone + Send + 'static,
        F: FnMut(&mut T, &RowView<'_>) -> Result<(), StoreError> + Send + 'static,
    {
        let read = match &*self.engine {
            DatabaseEngine::Sqlite(database) => database.fold(statement, state, step).await,
            DatabaseEngine::Postgres(database) => {
                Box::pin(database.fold(statement, state, step)).await
            }
        };
        read.inspect_err(|error| log_failure("read", error))
    }

    /// Removes deleted content of these tables from the files that the database writes in addition
    /// to them. The content itself is overwritten when it is deleted (SQLite), or when its table is
    /// vacuumed (PostgreSQL).
    pub async fn erase_traces(&self, tables: &[&'static str]) -> Result<(), StoreError> {
        match &*self.engine {
            DatabaseEngine::Sqlite(database) => database.truncate_log().await,
            DatabaseEngine::Postgres(database) => database.vacuum(tables).await,
        }
    }

    /// Removes replaced content of these tables from their own files as well, however an earlier
    /// version wrote it. Others wait for the tables meanwhile (PostgreSQL).
    pub async fn rewrite_tables(&self, tables: &[&'static str]) -> Result<(), StoreError> {
        match &*self.engine {
            DatabaseEngine::Sqlite(database) => database.truncate_log().await,
            DatabaseEngine::Postgres(database) => database.rewrite(tables).await,
        }
    }

    /// Returns an error unless the database answers within `limit` and is the one that was opened.
    pub async fn check_reachable(&self, limit: Duration) -> Result<(), StoreError> {
        let check = async {
            match &*self.engine {
                DatabaseEngine::Sqlite(database) => database.check_files().await,
                DatabaseEngine::Postgres(database) => database.check_reachable().await,
            }
        };
        tokio::time::timeout(limit, check).await.unwrap_or_else(|_| {
            let reason = format!("no answer within {} s", limit.as_secs_f32());
            Err(StoreError::Unreachable { location: self.location().to_owned(), reason })
        })
    }

    /// Finishes queued work and closes the connections of all clones.
    pub async fn close(&self) {
        match &*self.engine {
            DatabaseEngine::Sqlite(database) => database.close().await,
            DatabaseEngine::Postgres(database) => database.close().await,
        }
    }

    /// Returns the name of this database for messages.
    pub(crate) fn location(&self) -> &str {
        match &*self.engine {
            DatabaseEngine::Sqlite(database) => database.location(),
            DatabaseEngine::Postgres(database) => database.location(),
        }
    }
}

/// Logs a failure that the operator of the machine can act on, with the turn whose span this is. The
/// callers tell their users less, and something else.
fn log_failure(operation: &'static str, error: &StoreError) {
    if error.concerns_operator() {
        tracing::error!(operation, %error, "the database failed");
    }
}
