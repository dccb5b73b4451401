//! The one handle on what the librarian keeps.

use std::fmt;
use std::sync::{Arc, OnceLock};

use lango_store::{Database, StoreError};
use lango_tool::ToolError;

use crate::graph::Graph;

/// Everything the librarian keeps. Tools are made with it before a database is open; until
/// [`Holdings::connect`] is called they say that there is none.
#[derive(Clone, Default)]
pub struct Holdings {
    open: Arc<OnceLock<Open>>,
}

struct Open {
    graph: Graph,
}

impl Holdings {
    /// From now on everything is kept here.
    pub async fn connect(&self, database: Database) -> Result<(), StoreError> {
        let graph = Graph::open(database).await?;
        // A second one is the same database.
        let _ = self.open.set(Open { graph });
        Ok(())
    }

    /// The relations.
    pub fn graph(&self) -> Result<&Graph, ToolError> {
        self.open().map(|open| &open.graph)
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
