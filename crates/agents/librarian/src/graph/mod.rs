//! Stores relations: triples of subject, predicate and object, each with its provenance and
//! validity.
//!
//! Nothing is deleted: a relation that no longer holds is ended. Queries are about now unless they
//! name a time. Relations have no meaning here, and nothing is inferred from them.

mod dot;
mod frontier;
mod json_ld;
mod mentions;
mod name;
mod query;
mod schema;
pub(crate) mod tools;
mod traversal;
mod tree;
mod triple;
mod walk;
mod write;

use lango_store::{Database, StoreError};

pub use dot::DotWriter;
pub use json_ld::JsonLdWriter;
pub use mentions::RelatedEntry;
pub use name::GraphName;
pub use query::{RelationPage, RelationQuery};
pub use traversal::{
    Direction, ReachedEdge, ReachedNode, Traversal, TraversalLimits, TraversalRequest,
};
pub use tree::render_tree;
pub use triple::{AddOutcome, EndOutcome, NewTriple, Triple};

/// Holds the relations of one database.
#[derive(Clone)]
pub struct Graph {
    database: Database,
}

impl Graph {
    /// Opens the store and creates the tables that are missing.
    pub async fn open(database: Database) -> Result<Self, StoreError> {
        database.migrate(&schema::COMPONENT).await?;
        Ok(Self { database })
    }
}

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Graph").finish_non_exhaustive()
    }
}
