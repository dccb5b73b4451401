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

use lango_protocol::Space;
use lango_store::{Database, Statement, StoreError};

pub use dot::DotWriter;
pub use json_ld::JsonLdWriter;
pub use mentions::RelatedEntry;
pub use name::GraphName;
pub use query::{RelationPage, RelationQuery};
pub(crate) use schema::COMPONENT;
pub use traversal::{
    Direction, ReachedEdge, ReachedNode, Traversal, TraversalLimits, TraversalRequest,
};
pub use tree::render_tree;
pub use triple::{AddOutcome, EndOutcome, NewTriple, Triple};

/// Holds the relations of one space. Names belong to a space too, so no relation leads out of it.
#[derive(Clone)]
pub struct Graph {
    database: Database,
    space: Space,
}

impl Graph {
    /// Creates the tables that are missing.
    pub(crate) async fn migrate(database: &Database) -> Result<(), StoreError> {
        database.migrate(&COMPONENT).await
    }

    pub(crate) fn new(database: Database, space: Space) -> Self {
        Self { database, space }
    }

    /// Returns the name of the space in the database.
    fn client(&self) -> &str {
        self.space.as_stored()
    }

    pub(crate) fn build_space_removal(&self) -> Vec<Statement> {
        let of_space = |sql: &'static str| Statement::new(sql).bind(self.client());
        vec![
            of_space(
                "DELETE FROM graph_mentions WHERE node IN \
                 (SELECT id FROM graph_nodes WHERE client = $1)",
            ),
            of_space(
                "DELETE FROM graph_edges WHERE subject IN \
                 (SELECT id FROM graph_nodes WHERE client = $1)",
            ),
            of_space("DELETE FROM graph_nodes WHERE client = $1"),
            of_space("DELETE FROM graph_predicates WHERE client = $1"),
        ]
    }
}

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Graph").finish_non_exhaustive()
    }
}
