//! Gives access to all stores of the librarian.

use std::fmt;

use lango_protocol::Space;
use lango_retrieval::{Retrieval, RetrievalIndex};
use lango_store::{Batch, StoreError};

use crate::LibrarianError;
use crate::graph::Graph;
use crate::inquiries::{Inquiries, InquirySettings};
use crate::knowledge::Knowledge;
use crate::learnings::Learnings;

/// Holds the librarian's stores, which have the entries of all spaces. Clones share them.
#[derive(Clone)]
pub struct Holdings {
    index: RetrievalIndex,
    inquiries: InquirySettings,
}

impl Holdings {
    /// Opens the stores in the database of this index, so that texts are written together with
    /// their words and vectors.
    pub async fn open(
        index: RetrievalIndex,
        inquiries: InquirySettings,
    ) -> Result<Self, StoreError> {
        let database = index.database();
        Knowledge::migrate(database).await?;
        Graph::migrate(database).await?;
        Learnings::migrate(database).await?;
        Inquiries::migrate(database).await?;
        Ok(Self { index, inquiries })
    }

    /// Returns the stores of one space. There is no other way to an entry.
    pub fn in_space(&self, space: &Space) -> SpaceHoldings {
        let retrieval = self.index.in_space(space);
        let knowledge = Knowledge::new(retrieval.clone());
        SpaceHoldings {
            graph: Graph::new(self.index.database().clone(), space.clone()),
            learnings: Learnings::new(retrieval.clone()),
            inquiries: Inquiries::new(knowledge.clone(), self.inquiries),
            knowledge,
            retrieval,
        }
    }

    /// Returns the index that all stores share.
    pub fn index(&self) -> &RetrievalIndex {
        &self.index
    }

    /// Removes everything that an API client stored, in one transaction. Returns false for the
    /// owner's space, which is never removed as a whole, and if there was nothing.
    pub async fn remove_client_space(&self, space: &Space) -> Result<bool, LibrarianError> {
        if *space == Space::Owner {
            return Ok(false);
        }
        let stores = self.in_space(space);
        let mut batch = Batch::new();
        let removals = [
            stores.knowledge.build_space_removal(),
            stores.learnings.build_space_removal(),
            stores.inquiries.build_space_removal(),
            stores.graph.build_space_removal(),
            stores.retrieval.build_space_removal(),
        ];
        removals.into_iter().flatten().for_each(|statement| batch.push(statement));
        let changed = self.index.database().write(batch).await?;
        Ok(changed.iter().any(|rows| *rows > 0))
    }
}

impl fmt::Debug for Holdings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Holdings").finish_non_exhaustive()
    }
}

/// Holds the stores of one space.
#[derive(Debug, Clone)]
pub struct SpaceHoldings {
    graph: Graph,
    knowledge: Knowledge,
    learnings: Learnings,
    inquiries: Inquiries,
    retrieval: Retrieval,
}

impl SpaceHoldings {
    /// Returns the relations.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Returns the knowledge.
    pub fn knowledge(&self) -> &Knowledge {
        &self.knowledge
    }

    /// Returns the lessons.
    pub fn learnings(&self) -> &Learnings {
        &self.learnings
    }

    /// Returns the open questions.
    pub fn inquiries(&self) -> &Inquiries {
        &self.inquiries
    }

    /// Returns the indexed texts.
    pub fn retrieval(&self) -> &Retrieval {
        &self.retrieval
    }
}
