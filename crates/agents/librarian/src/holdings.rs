//! Gives access to all stores of the librarian.

use std::fmt;
use std::sync::Arc;

use lango_retrieval::Retrieval;
use lango_store::StoreError;

use crate::graph::Graph;
use crate::inquiries::{Inquiries, InquirySettings};
use crate::knowledge::Knowledge;
use crate::learnings::Learnings;

/// Holds the librarian's stores. Clones share them.
#[derive(Clone)]
pub struct Holdings {
    stores: Arc<OpenStores>,
}

struct OpenStores {
    graph: Graph,
    knowledge: Knowledge,
    learnings: Learnings,
    inquiries: Inquiries,
    retrieval: Retrieval,
}

impl Holdings {
    /// Opens the stores in the database of this index, so that texts are written together with
    /// their words and vectors.
    pub async fn open(
        retrieval: Retrieval,
        inquiries: InquirySettings,
    ) -> Result<Self, StoreError> {
        let knowledge = Knowledge::open(retrieval.clone()).await?;
        let stores = OpenStores {
            graph: Graph::open(retrieval.database().clone()).await?,
            learnings: Learnings::open(retrieval.clone()).await?,
            inquiries: Inquiries::open(knowledge.clone(), inquiries).await?,
            knowledge,
            retrieval,
        };
        Ok(Self { stores: Arc::new(stores) })
    }

    /// Returns the relations.
    pub fn graph(&self) -> &Graph {
        &self.stores.graph
    }

    /// Returns the knowledge.
    pub fn knowledge(&self) -> &Knowledge {
        &self.stores.knowledge
    }

    /// Returns the lessons.
    pub fn learnings(&self) -> &Learnings {
        &self.stores.learnings
    }

    /// Returns the open questions.
    pub fn inquiries(&self) -> &Inquiries {
        &self.stores.inquiries
    }

    /// Returns the index that all stores share.
    pub fn retrieval(&self) -> &Retrieval {
        &self.stores.retrieval
    }
}

impl fmt::Debug for Holdings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Holdings").finish_non_exhaustive()
    }
}
