//! The handle that the tools, the context and the background work share.

use std::fmt;
use std::sync::{Arc, OnceLock};

use lango_model::Model;
use lango_retrieval::Retrieval;
use lango_store::{Database, Journal};
use tokio::sync::Mutex;

use crate::schema;
use crate::{ChroniclerError, MemorySettings};

/// Memory, before and after a database is there. Clones share everything.
///
/// Tools are made before a database is opened, and before it is known which model answers; until
/// [`Memory::connect`] is called nothing is known, and until [`Memory::observe_with`] is called
/// observations are extractive.
#[derive(Clone, Default)]
pub struct Memory {
    stores: Arc<OnceLock<Stores>>,
    observer: Arc<OnceLock<Arc<dyn Model>>>,
    settings: Arc<MemorySettings>,
    /// What was given to the turns that run.
    pub(crate) given: crate::context::Given,
    /// Held while observing and reflecting, so that one process asks one model at a time.
    pub(crate) working: Arc<Mutex<()>>,
}

/// Where everything is.
#[derive(Clone)]
pub(crate) struct Stores {
    pub(crate) database: Database,
    pub(crate) journal: Journal,
    pub(crate) retrieval: Retrieval,
}

impl Memory {
    /// Memory with other settings than the usual ones.
    pub fn new(settings: MemorySettings) -> Self {
        Self { settings: Arc::new(settings), ..Self::default() }
    }

    /// From now on it remembers.
    pub async fn connect(
        &self,
        database: Database,
        journal: Journal,
        retrieval: Retrieval,
    ) -> Result<(), ChroniclerError> {
        database.migrate(&schema::COMPONENT).await?;
        // A second one is the same database.
        let _ = self.stores.set(Stores { database, journal, retrieval });
        Ok(())
    }

    /// From now on this model writes observations and reflections.
    pub fn observe_with(&self, model: Arc<dyn Model>) {
        // A second one changes nothing: who observes is decided once.
        let _ = self.observer.set(model);
    }

    /// What is set.
    pub fn settings(&self) -> &MemorySettings {
        &self.settings
    }

    pub(crate) fn stores(&self) -> Result<&Stores, ChroniclerError> {
        self.stores.get().ok_or(ChroniclerError::NotConnected)
    }

    pub(crate) fn observer(&self) -> Option<&Arc<dyn Model>> {
        self.observer.get()
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let connected = self.stores.get().is_some();
        f.debug_struct("Memory").field("connected", &connected).finish_non_exhaustive()
    }
}
