//! Remembers the databases that a process has opened, so that its end closes them.

use std::sync::{Arc, Mutex, PoisonError};

use lango_store::Database;

/// The open databases of a process. Clones share them.
#[derive(Clone, Default)]
pub struct OpenDatabases {
    /// A lock and not a channel, because a list is all there is; held to push or to take it.
    databases: Arc<Mutex<Vec<Database>>>,
}

impl OpenDatabases {
    pub(crate) fn add(&self, database: Database) {
        self.databases.lock().unwrap_or_else(PoisonError::into_inner).push(database);
    }

    /// Finishes queued work and closes all of them: what is in SQLite's log is moved to its file.
    pub async fn close(&self) {
        let databases =
            std::mem::take(&mut *self.databases.lock().unwrap_or_else(PoisonError::into_inner));
        for database in databases {
            database.close().await;
        }
    }
}

impl std::fmt::Debug for OpenDatabases {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OpenDatabases")
    }
}
