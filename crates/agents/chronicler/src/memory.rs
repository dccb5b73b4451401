//! Defines the handles that the tools, the context and the background work share.

use std::fmt;
use std::sync::Arc;

use lango_model::Model;
use lango_protocol::{SessionId, Space};
use lango_retrieval::{Retrieval, RetrievalIndex};
use lango_runtime::find_session_space;
use lango_store::{Batch, Database, Journal, Statement};
use tokio::sync::Mutex;

use crate::schema;
use crate::{ChroniclerError, MemorySettings};

/// The memories of all spaces. It gives none away: [`MemorySystem::in_space`] says whose are meant.
/// Clones share everything.
#[derive(Clone)]
pub struct MemorySystem {
    index: RetrievalIndex,
    journal: Journal,
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
    pub retrieval: RetrievalIndex,
    /// The model that writes observations and reflections. Without one they are extractive.
    pub observer: Option<Arc<dyn Model>>,
}

impl MemorySystem {
    /// Opens the memory of a database.
    pub async fn open(
        settings: MemorySettings,
        resources: MemoryResources,
    ) -> Result<Self, ChroniclerError> {
        let MemoryResources { journal, retrieval, observer } = resources;
        retrieval.database().migrate(&schema::COMPONENT).await?;
        Ok(Self {
            index: retrieval,
            journal,
            observer,
            settings: Arc::new(settings),
            context_cache: crate::context::ContextCache::default(),
            working: Arc::default(),
        })
    }

    /// Returns the memory of one space.
    pub fn in_space(&self, space: &Space) -> Memory {
        let stores = MemoryStores {
            database: self.index.database().clone(),
            journal: self.journal.clone(),
            retrieval: self.index.in_space(space),
        };
        Memory { system: self.clone(), stores: Arc::new(stores) }
    }

    /// Returns the memory of the one who started a session.
    pub(crate) async fn of_session(&self, session: &SessionId) -> Result<Memory, ChroniclerError> {
        let space = find_session_space(&self.journal, session).await?;
        Ok(self.in_space(&space.unwrap_or(Space::Owner)))
    }

    /// Returns the spaces that have memories, observations or reflections, and the owner's.
    pub(crate) async fn list_spaces(&self) -> Result<Vec<Space>, ChroniclerError> {
        let clients = Statement::new(
            "SELECT client FROM memories WHERE client <> '' UNION \
             SELECT client FROM observations WHERE client <> '' UNION \
             SELECT client FROM reflections WHERE client <> ''",
        );
        let mut spaces = vec![Space::Owner];
        for row in self.database().query(clients).await? {
            spaces.push(Space::from_stored(row.text(0)?).map_err(crate::rows::corrupt_row_error)?);
        }
        Ok(spaces)
    }

    /// Removes everything that is remembered for an API client, in one transaction. Returns false
    /// for the owner's space, which is never removed as a whole, and if there was nothing.
    pub async fn remove_client_space(&self, space: &Space) -> Result<bool, ChroniclerError> {
        if *space == Space::Owner {
            return Ok(false);
        }
        let mut batch = Batch::new();
        for sql in [
            "DELETE FROM memories WHERE client = $1",
            "DELETE FROM observations WHERE client = $1",
            "DELETE FROM reflections WHERE client = $1",
            "DELETE FROM redactions WHERE client = $1",
        ] {
            batch.push(Statement::new(sql).bind(space.as_stored()));
        }
        for statement in self.index.in_space(space).build_space_removal() {
            batch.push(statement);
        }
        let changed = self.database().write(batch).await?;
        self.context_cache.clear();
        self.index.forget_queries();
        Ok(changed.iter().any(|rows| *rows > 0))
    }

    /// Returns the settings.
    pub fn settings(&self) -> &MemorySettings {
        &self.settings
    }

    pub(crate) fn database(&self) -> &Database {
        self.index.database()
    }

    pub(crate) fn journal(&self) -> &Journal {
        &self.journal
    }
}

impl fmt::Debug for MemorySystem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemorySystem").finish_non_exhaustive()
    }
}

/// The memory of the user, or of an API client, and of their past conversations. Clones share
/// everything.
#[derive(Clone)]
pub struct Memory {
    system: MemorySystem,
    stores: Arc<MemoryStores>,
}

/// Holds the stores of one space.
#[derive(Clone)]
pub(crate) struct MemoryStores {
    pub(crate) database: Database,
    pub(crate) journal: Journal,
    pub(crate) retrieval: Retrieval,
}

impl MemoryStores {
    pub(crate) fn space(&self) -> &Space {
        self.retrieval.space()
    }

    /// Returns the name of the space in the database.
    pub(crate) fn client(&self) -> &str {
        self.space().as_stored()
    }
}

impl Memory {
    /// Returns the memories of all spaces.
    pub(crate) fn system(&self) -> &MemorySystem {
        &self.system
    }

    /// Returns the settings.
    pub fn settings(&self) -> &MemorySettings {
        self.system.settings()
    }

    pub(crate) fn stores(&self) -> &MemoryStores {
        &self.stores
    }

    /// Returns the model that observes. A client has none, because its tokens are the owner's.
    pub(crate) fn observer(&self) -> Option<&Arc<dyn Model>> {
        self.system.observer.as_ref().filter(|_| *self.stores.space() == Space::Owner)
    }
}

impl fmt::Debug for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memory").field("space", self.stores.space()).finish_non_exhaustive()
    }
}
