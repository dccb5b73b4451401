//! The handle that the tools, the context and the background work share.

use std::fmt;
use std::sync::Arc;

use lango_model::Model;
use lango_retrieval::Retrieval;
use lango_store::{Database, Journal};
use tokio::sync::Mutex;

use crate::schema;
use crate::{ChroniclerError, MemorySettings};

/// Memory of the user and of past conversations. Clones share everything.
#[derive(Clone)]
pub struct Memory {
    stores: Arc<Stores>,
    observer: Option<Arc<dyn Model>>,
    settings: Arc<MemorySettings>,
    /// What was given to the turns that run.
    pub(crate) given: crate::context::Given,
    /// Held while observing and reflecting, so that one process asks one model at a time.
    pub(crate) working: Arc<Mutex<()>>,
}

/// What memory works on.
pub struct MemoryResources {
    /// Where conversations are read from.
    pub journal: Journal,
    /// The index of memories, whose database the other tables are in too.
    pub retrieval: Retrieval,
    /// The model that writes observations and reflections. Without one they are extractive.
    pub observer: Option<Arc<dyn Model>>,
}

/// Where everything is.
#[derive(Clone)]
pub(crate) struct Stores {
    pub(crate) database: Database,
    pub(crate) journal: Journal,
    pub(crate) retrieval: Retrieval,
}

impl Memory {
    /// Opens the memory of a database.
    pub async fn open(
        settings: MemorySettings,
        resources: MemoryResources,
    ) -> Result<Self, ChroniclerError> {
        let MemoryResources { journal, retrieval, observer } = resources;
        let database = retrieval.database().clone();
        database.migrate(&schema::COMPONENT).await?;
        Ok(Self {
            stores: Arc::new(Stores { database, journal, retrieval }),
            observer,
            settings: Arc::new(settings),
            given: crate::context::Given::default(),
            working: Arc::default(),
        })
    }

    /// What is set.
    pub fn settings(&self) -> &MemorySettings {
        &self.settings
    }

    pub(crate) fn stores(&self) -> &Stores {
        &self.stores
    }

    pub(crate) fn observer(&self) -> Option<&Arc<dyn Model>> {
        self.observer.as_ref()
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").finish_non_exhaustive()
    }
}
