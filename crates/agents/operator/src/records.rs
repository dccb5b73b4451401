//! Stores the operator's records in the database.

use std::fmt;

use lango_keystore::{KeyStore, KeyStoreError, ValueSealer};
use lango_store::{Database, StoreError};

use crate::skills::Pins;
use crate::{changes, shell, skills};

/// Names the credential of the vault whose key encrypts recorded files.
const CHANGES_KEY: &str = "operator/file-changes";

/// Gives access to the operator's tables: what its tools changed, what runs in the background, and
/// which skills were allowed. Clones share everything.
#[derive(Clone)]
pub struct Records {
    database: Database,
    pins: Pins,
    sealer: Option<ValueSealer>,
}

impl Records {
    /// Migrates the operator's tables of a database, and reads which skills were allowed.
    pub async fn open(database: Database) -> Result<Self, StoreError> {
        for component in [&changes::COMPONENT, &shell::PROCESSES, &skills::COMPONENT] {
            database.migrate(component).await?;
        }
        let pins = Pins::load(&database).await?;
        Ok(Self { database, pins, sealer: None })
    }

    /// Encrypts recorded files that hold secrets with a key of this vault.
    pub fn with_key_store(self, store: KeyStore) -> Result<Self, KeyStoreError> {
        let sealer = ValueSealer::new(store, CHANGES_KEY.parse()?);
        Ok(Self { sealer: Some(sealer), ..self })
    }

    pub(crate) fn sealer(&self) -> Option<&ValueSealer> {
        self.sealer.as_ref()
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
