//! What the operator keeps in the database.

use std::fmt;
use std::sync::{Arc, OnceLock};

use lango_store::{Database, StoreError};

use crate::skills::Pins;
use crate::{changes, shell, skills};

/// The operator's tables: what its tools changed, what runs in the background, and
/// which skills were allowed.
///
/// Tools are made before a database is opened; until [`Records::connect`] is called nothing is
/// kept, which suits lists and tests of single tools.
#[derive(Clone, Default)]
pub struct Records {
    database: Arc<OnceLock<Database>>,
    pins: Pins,
}

impl Records {
    /// From now on everything is kept here.
    pub async fn connect(&self, database: Database) -> Result<(), StoreError> {
        for component in [&changes::COMPONENT, &shell::PROCESSES, &skills::COMPONENT] {
            database.migrate(component).await?;
        }
        self.pins.load(&database).await?;
        // A second one is the same database.
        let _ = self.database.set(database);
        Ok(())
    }

    pub(crate) fn pins(&self) -> &Pins {
        &self.pins
    }

    pub(crate) fn database(&self) -> Option<&Database> {
        self.database.get()
    }
}

impl fmt::Debug for Records {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let connected = self.database.get().is_some();
        f.debug_struct("Records").field("connected", &connected).finish_non_exhaustive()
    }
}
