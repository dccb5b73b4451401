//! The one handle on what the librarian keeps.

use std::fmt;
use std::sync::{Arc, OnceLock};

use lango_retrieval::Retrieval;
use lango_store::{Database, StoreError};
use lango_tool::ToolError;

use crate::graph::Graph;
use crate::inquiries::{Inquiries, InquirySettings};
use crate::knowledge::Knowledge;
use crate::learnings::Learnings;

/// Everything the librarian keeps. Tools are made with it before a database is open; until
/// [`Holdings::connect`] is called they say that there is none.
#[derive(Clone, Default)]
pub struct Holdings {
    open: Arc<OnceLock<Open>>,
}

struct Open {
    graph: Graph,
    knowledge: Knowledge,
    learnings: Learnings,
    inquiries: Inquiries,
    retrieval: Retrieval,
}

impl Holdings {
    /// From now on everything is kept here. The index must be one of this database: texts are
    /// written along with their words and vectors.
    pub async fn connect(
        &self,
        database: Database,
        retrieval: Retrieval,
        inquiries: InquirySettings,
    ) -> Result<(), StoreError> {
        let knowledge = Knowledge::open(retrieval.clone()).await?;
        let open = Open {
            graph: Graph::open(database).await?,
            learnings: Learnings::open(retrieval.clone()).await?,
            inquiries: Inquiries::open(knowledge.clone(), inquiries).await?,
            knowledge,
            retrieval,
        };
        // A second one is the same database.
        let _ = self.open.set(open);
        Ok(())
    }

    /// The relations.
    pub fn graph(&self) -> Result<&Graph, ToolError> {
        self.open().map(|open| &open.graph)
    }

    /// What is known.
    pub fn knowledge(&self) -> Result<&Knowledge, ToolError> {
        self.open().map(|open| &open.knowledge)
    }

    /// The lessons.
    pub fn learnings(&self) -> Result<&Learnings, ToolError> {
        self.open().map(|open| &open.learnings)
    }

    /// The open questions.
    pub fn inquiries(&self) -> Result<&Inquiries, ToolError> {
        self.open().map(|open| &open.inquiries)
    }

    /// The index behind all of them.
    pub fn retrieval(&self) -> Result<&Retrieval, ToolError> {
        self.open().map(|open| &open.retrieval)
    }

    fn open(&self) -> Result<&Open, ToolError> {
        self.open.get().ok_or_else(|| {
            ToolError::Failed("the librarian has no database yet; nothing was looked up".to_owned())
        })
    }
}

impl fmt::Debug for Holdings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Holdings").field("open", &self.open.get().is_some()).finish()
    }
}
