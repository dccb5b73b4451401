//! Follows relations from a node.

use std::collections::HashMap;
use std::sync::Arc;

use lango_protocol::Timestamp;
use lango_store::Statement;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::frontier::{in_list_condition, render_id_list};
use super::walk::{GraphWalk, WalkOptions};
use super::{Graph, GraphName};
use crate::LibrarianError;

/// Limits the depth of a traversal.
pub(super) const MAX_DEPTH: u32 = 16;
/// Limits the names that are suggested for an unknown one.
const MAX_SUGGESTION_COUNT: i64 = 5;

/// Which way relations are followed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From subject to object.
    #[default]
    Out,
    /// From object to subject.
    In,
    /// Either way.
    Both,
}

/// Limits the size of a traversal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraversalLimits {
    /// Nodes, the start included.
    pub nodes: usize,
    /// Relations.
    pub edges: usize,
}

/// Describes a traversal.
#[derive(Debug, Clone)]
pub struct TraversalRequest {
    /// The start.
    pub start: GraphName,
    /// The largest distance in relations; [`Traversal::cut`] says if that was too much.
    pub depth: u32,
    /// The predicates to follow; all if empty.
    pub predicates: Vec<GraphName>,
    /// The direction.
    pub direction: Direction,
    /// The time at which the relations hold; now by default.
    pub at: Option<Timestamp>,
    /// Limits the size of a traversal.
    pub limits: TraversalLimits,
    /// True to mark the nodes of the last level that have further relations.
    pub mark_open: bool,
}

/// Represents a node that was reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReachedNode {
    /// Its name.
    pub name: Arc<str>,
    /// The distance from the start in relations.
    pub depth: u32,
    /// The index of the relation that led here first; none for the start.
    pub via: Option<usize>,
    /// True if it has further relations and [`TraversalRequest::mark_open`] is set.
    pub open: bool,
}

/// Represents a relation that was followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReachedEdge {
    /// The index of the subject among the nodes.
    pub subject: usize,
    /// The predicate.
    pub predicate: Arc<str>,
    /// The index of the object among the nodes.
    pub object: usize,
}

/// The result of a traversal.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Traversal {
    /// The start, then the other nodes by distance.
    pub nodes: Vec<ReachedNode>,
    /// The relations in the order in which they were followed.
    pub edges: Vec<ReachedEdge>,
    /// The reasons why the result is incomplete; empty if it is complete.
    pub cut: Vec<String>,
}

impl Graph {
    /// Follows relations from a node, the nearest first.
    pub async fn traverse(
        &self,
        request: &TraversalRequest,
        cancel: &CancellationToken,
    ) -> Result<Traversal, LibrarianError> {
        let start = self.find_node_id(&request.start).await?;
        let mut cut = Vec::new();
        if request.depth > MAX_DEPTH {
            let depth = request.depth;
            cut.push(format!("depth {depth} was cut to {MAX_DEPTH}, the deepest there is"));
        }
        let predicates = self.find_predicate_ids(&request.predicates, &mut cut).await?;
        let options = WalkOptions {
            depth: request.depth.min(MAX_DEPTH),
            predicates: predicates.as_deref(),
            direction: request.direction,
            at: request.at.unwrap_or_else(Timestamp::now).as_microseconds(),
            limits: request.limits,
            mark_open: request.mark_open,
        };
        let walk = GraphWalk::run(&self.database, &[start], &options, cancel).await?;
        let TraversalLimits { nodes, edges } = request.limits;
        if walk.too_many_nodes {
            cut.push(format!("there are more than {nodes} nodes; the farthest are left out"));
        }
        if walk.too_many_edges {
            cut.push(format!("there are more than {edges} relations; the farthest are left out"));
        }
        let (nodes, edges) = self.resolve_names(&walk).await?;
        Ok(Traversal { nodes, edges, cut })
    }

    /// Returns the id of a node. The error suggests similar names.
    pub(super) async fn find_node_id(&self, name: &GraphName) -> Result<i64, LibrarianError> {
        let find = Statement::new("SELECT id FROM graph_nodes WHERE folded = $1 AND client = $2");
        let rows = self.database.query(find.bind(name.folded()).bind(self.client())).await?;
        if let Some(row) = rows.first() {
            return Ok(row.integer(0)?);
        }
        let similar = Statement::new(
            "SELECT name FROM graph_nodes WHERE folded LIKE $1 ESCAPE '\\' AND client = $3 \
             ORDER BY length(folded), folded LIMIT $2",
        );
        let escaped = name.folded().replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
        let rows = self
            .database
            .query(
                similar.bind(format!("%{escaped}%")).bind(MAX_SUGGESTION_COUNT).bind(self.client()),
            )
            .await?;
        let names = rows.iter().map(|row| row.text(0)).collect::<Result<Vec<_>, _>>()?;
        let near = if names.is_empty() {
            String::new()
        } else {
            format!("; there is: {}", names.join(", "))
        };
        Err(LibrarianError::NoNode { name: name.shown().to_owned(), near })
    }

    /// Returns the ids of predicates; none if all are meant.
    async fn find_predicate_ids(
        &self,
        names: &[GraphName],
        cut: &mut Vec<String>,
    ) -> Result<Option<Vec<i64>>, LibrarianError> {
        if names.is_empty() {
            return Ok(None);
        }
        let mut found = Vec::with_capacity(names.len());
        for name in names {
            let find =
                Statement::new("SELECT id FROM graph_predicates WHERE folded = $1 AND client = $2");
            let rows = self.database.query(find.bind(name.folded()).bind(self.client())).await?;
            match rows.first() {
                Some(row) => found.push(row.integer(0)?),
                None => cut.push(format!("no relation has the predicate {:?}", name.shown())),
            }
        }
        Ok(Some(found))
    }

    /// Replaces the ids of a walk by names.
    pub(super) async fn resolve_names(
        &self,
        walk: &GraphWalk,
    ) -> Result<(Vec<ReachedNode>, Vec<ReachedEdge>), LibrarianError> {
        let nodes: Vec<i64> = walk.nodes.iter().map(|node| node.id).collect();
        let mut predicates: Vec<i64> = walk.edges.iter().map(|edge| edge.predicate).collect();
        predicates.sort_unstable();
        predicates.dedup();
        let nodes = self.read_names("graph_nodes", &nodes).await?;
        let predicates = self.read_names("graph_predicates", &predicates).await?;
        let name = |names: &HashMap<i64, Arc<str>>, id: i64| {
            names.get(&id).cloned().unwrap_or_else(|| Arc::from("?"))
        };
        let reached = walk.nodes.iter().map(|node| ReachedNode {
            name: name(&nodes, node.id),
            depth: node.depth,
            via: node.via,
            open: node.open,
        });
        let edges = walk.edges.iter().filter_map(|edge| {
            Some(ReachedEdge {
                subject: walk.node_index(edge.subject)?,
                predicate: name(&predicates, edge.predicate),
                object: walk.node_index(edge.object)?,
            })
        });
        Ok((reached.collect(), edges.collect()))
    }

    async fn read_names(
        &self,
        table: &'static str,
        ids: &[i64],
    ) -> Result<HashMap<i64, Arc<str>>, LibrarianError> {
        let mut names = HashMap::with_capacity(ids.len());
        if ids.is_empty() {
            return Ok(names);
        }
        let dialect = self.database.dialect();
        let sql = format!("SELECT id, name FROM {table} WHERE id {}", in_list_condition(dialect));
        for row in
            self.database.query(Statement::new(sql).bind(render_id_list(dialect, ids))).await?
        {
            names.insert(row.integer(0)?, Arc::from(row.text(1)?));
        }
        Ok(names)
    }
}
