//! Implements the index: entries, passages, words and vectors in the database.

mod check;
mod find;
mod list;
mod meaning;
mod schema;
mod upkeep;
mod words;
mod write;

use std::collections::VecDeque;
use std::fmt;
use std::sync::Arc;

use lango_protocol::Space;
use lango_store::{Database, Statement, StoreError};
use parking_lot::Mutex;

use crate::{EmbedError, Embedder, RetrievalError, ids};

pub use check::IndexProblem;
pub use find::{RetrievalMode, SearchHit, SearchHits, SearchQuery};
pub use list::CollectionSize;
pub(crate) use schema::COMPONENT;
pub use write::PreparedEntry;

/// Reads and writes the texts of one space. Clones share everything.
#[derive(Clone)]
pub struct Retrieval {
    index: RetrievalIndex,
    space: Space,
}

impl Retrieval {
    /// Returns the space whose texts it reads and writes.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// Returns the index, which has the texts of all spaces.
    pub fn index(&self) -> &RetrievalIndex {
        &self.index
    }
}

/// What does not depend on the space is done by the index.
impl std::ops::Deref for Retrieval {
    type Target = RetrievalIndex;

    fn deref(&self) -> &RetrievalIndex {
        &self.index
    }
}

/// The handle of the index. It gives no text away: [`RetrievalIndex::in_space`] says whose texts are
/// meant. Clones share everything.
#[derive(Clone)]
pub struct RetrievalIndex {
    database: Database,
    embedder: Option<Arc<dyn Embedder>>,
    /// The number of the embedder's model.
    model: Option<i64>,
    shared: Arc<SharedIndex>,
}

/// Holds what clones share. It uses locks, because they are held for a few instructions and never
/// across a wait.
#[derive(Default)]
struct SharedIndex {
    /// Vectors of the last queries, newest last: one turn asks the same thing several times.
    queries: Mutex<VecDeque<(String, Vec<f32>)>>,
    /// The last error of the embedding model.
    failure: Mutex<Option<EmbedError>>,
}

/// Limits the cached queries.
const MAX_CACHED_QUERY_COUNT: usize = 32;

impl RetrievalIndex {
    /// Returns the texts of one space.
    pub fn in_space(&self, space: &Space) -> Retrieval {
        Retrieval { index: self.clone(), space: space.clone() }
    }

    /// Opens the index in a database. Without an embedder, texts are found by words only.
    pub async fn open(
        database: Database,
        embedder: Option<Arc<dyn Embedder>>,
    ) -> Result<Self, RetrievalError> {
        database.migrate(&COMPONENT).await?;
        let model = embedder.as_ref().map(|embedder| ids::model_number(&embedder.model().name));
        let retrieval = Self { database, embedder, model, shared: Arc::default() };
        retrieval.register_model().await?;
        Ok(retrieval)
    }

    async fn register_model(&self) -> Result<(), StoreError> {
        let (Some(embedder), Some(model)) = (&self.embedder, self.model) else { return Ok(()) };
        let known = Statement::new("SELECT 1 FROM retrieval_models WHERE id = $1").bind(model);
        if self.database.query(known).await?.is_empty() {
            let insert = Statement::new(
                "INSERT INTO retrieval_models (id, name) VALUES ($1, $2) ON CONFLICT DO NOTHING",
            );
            let insert = insert.bind(model).bind(embedder.model().name.as_str());
            self.database.write(insert.into()).await?;
        }
        Ok(())
    }

    /// Returns the embedder, if texts are found by meaning too.
    pub fn embedder(&self) -> Option<&Arc<dyn Embedder>> {
        self.embedder.as_ref()
    }

    /// Returns the database.
    pub fn database(&self) -> &Database {
        &self.database
    }

    /// Returns the last error of the embedding model, once.
    pub fn take_failure(&self) -> Option<EmbedError> {
        self.shared.failure.lock().take()
    }

    fn note_failure(&self, error: EmbedError) {
        *self.shared.failure.lock() = Some(error);
    }

    fn find_cached_vector(&self, text: &str) -> Option<Vec<f32>> {
        let queries = self.shared.queries.lock();
        queries.iter().find(|(known, _)| known == text).map(|(_, vector)| vector.clone())
    }

    fn cache_vector(&self, text: &str, vector: &[f32]) {
        let mut queries = self.shared.queries.lock();
        if queries.len() == MAX_CACHED_QUERY_COUNT {
            queries.pop_front();
        }
        queries.push_back((text.to_owned(), vector.to_vec()));
    }

    /// Clears the cached queries, where one of them may hold deleted content.
    pub fn forget_queries(&self) {
        self.shared.queries.lock().clear();
    }
}

impl fmt::Debug for Retrieval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Retrieval").field("space", &self.space).finish_non_exhaustive()
    }
}

impl fmt::Debug for RetrievalIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = self.embedder.as_ref().map(|embedder| embedder.model());
        f.debug_struct("RetrievalIndex").field("model", &model).finish_non_exhaustive()
    }
}
