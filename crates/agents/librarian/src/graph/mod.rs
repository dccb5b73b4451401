//! Relations: triples of subject, predicate and object, each with where it came from and when it
//! held.
//!
//! Nothing is deleted: a relation that no longer holds is ended. Questions are about now unless
//! they name a time. What a relation means is not known here, and nothing is inferred from it.

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

pub use dot::Dot;
pub use json_ld::JsonLd;
pub use mentions::RelatedEntry;
pub use name::Name;
pub use query::{Found, Question};
pub use traversal::{Direction, Limits, Reach, ReachedEdge, ReachedNode, Traversal};
pub use tree::tree;
pub use triple::{Added, Ended, NewTriple, Triple};

/// The relations of one database.
#[derive(Clone)]
pub struct Graph {
    database: Database,
}

impl Graph {
    /// Makes the tables where they are missing.
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
