//! Defines the handle that the tools, the context and the background work share.

use std::fmt;
use std::sync::Arc;

use lango_model::Model;
use lango_retrieval::Retrieval;
use lango_store::{Database, Journal};
use tokio::sync::Mutex;

use crate::schema;
use crate::{ChroniclerError, MemorySettings};

/// The memory of the user and of past conversations. Clones share everything.
#[derive(Clone)]
pub struct Memory {
    stores: Arc<MemoryStores>,
    observer: Option<Arc<dyn Model>>,
    settings: Arc<MemorySettings>,
    /// The blocks that the running turns got.
    pub(crate) context_cache: crate::context::ContextCache,
    /// Held while observing and reflecting, so that one process makes one model call at a time.
    pub(crate) working: Arc<Mutex<()>>,
}

/// Holds the resources that memory needs.
pub struct MemoryResources {
    /// The journal that conversations are read from.
    pub journal: Journal,
    /// The index of memories, whose database the other tables are in too.
    pub retrieval: Retrieval,
    /// The model that writes observations and reflections. Without one they are extractive.
    pub observer: Option<Arc<dyn Model>>,
}

/// Holds the stores.
#[derive(Clone)]
pub(crate) struct MemoryStores {
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
            stores: Arc::new(MemoryStores { database, journal, retrieval }),
            observer,
            settings: Arc::new(settings),
            context_cache: crate::context::ContextCache::default(),
            working: Arc::default(),
        })
    }

    /// Returns the settings.
    pub fn settings(&self) -> &MemorySettings {
        &self.settings
    }

    pub(crate) fn stores(&self) -> &MemoryStores {
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
