//! Stores the operator's records in the database.

use std::fmt;

use lango_store::{Database, StoreError};

use crate::skills::Pins;
use crate::{changes, shell, skills};

/// Gives access to the operator's tables: what its tools changed, what runs in the background, and
/// which skills were allowed. Clones share everything.
#[derive(Clone)]
pub struct Records {
    database: Database,
    pins: Pins,
}

impl Records {
    /// Migrates the operator's tables of a database, and reads which skills were allowed.
    pub async fn open(database: Database) -> Result<Self, StoreError> {
        for component in [&changes::COMPONENT, &shell::PROCESSES, &skills::COMPONENT] {
            database.migrate(component).await?;
        }
        let pins = Pins::load(&database).await?;
        Ok(Self { database, pins })
    }

    pub(crate) fn pins(&self) -> &Pins {
        &self.pins
    }

    pub(crate) fn database(&self) -> &Database {
        &self.database
    }
}

impl fmt::Debug for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Records").finish_non_exhaustive()
    }
}
