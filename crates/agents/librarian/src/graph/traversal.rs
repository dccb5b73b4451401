//! Following relations from a node.

use std::collections::HashMap;
use std::sync::Arc;

use lango_protocol::Timestamp;
use lango_store::Statement;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use super::frontier::{among, list};
use super::walk::{Walk, Way};
use super::{Graph, Name};
use crate::LibrarianError;

/// No traversal goes deeper.
pub(super) const DEEPEST: u32 = 16;
/// Names that are suggested for one that is not there.
const SUGGESTED: i64 = 5;

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

/// How much is taken along.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Nodes, the start included.
    pub nodes: usize,
    /// Relations.
    pub edges: usize,
}

/// Where to go from where.
#[derive(Debug, Clone)]
pub struct Reach {
    /// The start.
    pub start: Name,
    /// How many relations away at most; [`Traversal::cut`] says where that was too much.
    pub depth: u32,
    /// Only along these; along all where empty.
    pub predicates: Vec<Name>,
    /// Which way.
    pub direction: Direction,
    /// The moment the relations hold at; now by default.
    pub at: Option<Timestamp>,
    /// How much is taken along.
    pub limits: Limits,
    /// Whether to say which nodes of the last level lead further.
    pub mark_open: bool,
}

/// A node that was reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReachedNode {
    /// Its name.
    pub name: Arc<str>,
    /// How many relations away from the start.
    pub depth: u32,
    /// The relation that led here first, as an index; none for the start.
    pub via: Option<usize>,
    /// Whether it leads further, where that was asked for.
    pub open: bool,
}

/// A relation that was followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReachedEdge {
    /// Index of the subject among the nodes.
    pub subject: usize,
    /// How they relate.
    pub predicate: Arc<str>,
    /// Index of the object among the nodes.
    pub object: usize,
}

/// What was reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Traversal {
    /// The start first, then by distance.
    pub nodes: Vec<ReachedNode>,
    /// In the order they were followed.
    pub edges: Vec<ReachedEdge>,
    /// Why this is not all, in words; empty where it is.
    pub cut: Vec<String>,
}

impl Graph {
    /// Follows relations from a node, the nearest first.
    pub async fn traverse(
        &self,
        reach: &Reach,
        cancel: &CancellationToken,
    ) -> Result<Traversal, LibrarianError> {
        let start = self.node(&reach.start).await?;
        let mut cut = Vec::new();
        if reach.depth > DEEPEST {
            let depth = reach.depth;
            cut.push(format!("depth {depth} was cut to {DEEPEST}, the deepest there is"));
        }
        let predicates = self.predicates(&reach.predicates, &mut cut).await?;
        let way = Way {
            depth: reach.depth.min(DEEPEST),
            predicates: predicates.as_deref(),
            direction: reach.direction,
            at: reach.at.unwrap_or_else(Timestamp::now).as_microseconds(),
            limits: reach.limits,
            mark_open: reach.mark_open,
        };
        let walk = Walk::go(&self.database, &[start], &way, cancel).await?;
        let Limits { nodes, edges } = reach.limits;
        if walk.too_many_nodes {
            cut.push(format!("there are more than {nodes} nodes; the farthest are left out"));
        }
        if walk.too_many_edges {
            cut.push(format!("there are more than {edges} relations; the farthest are left out"));
        }
        let (nodes, edges) = self.named(&walk).await?;
        Ok(Traversal { nodes, edges, cut })
    }

    /// The number of a node, or nodes that it may have been meant for.
    pub(super) async fn node(&self, name: &Name) -> Result<i64, LibrarianError> {
        let find = Statement::new("SELECT id FROM graph_nodes WHERE folded = $1");
        let rows = self.database.query(find.bind(name.folded()).brief()).await?;
        if let Some(row) = rows.first() {
            return Ok(row.integer(0)?);
        }
        let similar = Statement::new(
            "SELECT name FROM graph_nodes WHERE folded LIKE $1 ESCAPE '\\' \
             ORDER BY length(folded), folded LIMIT $2",
        );
        let escaped = name.folded().replace('\\', "\\\\").replace('%', "\\%").replace('_', "\\_");
        let rows =
            self.database.query(similar.bind(format!("%{escaped}%")).bind(SUGGESTED)).await?;
        let names = rows.iter().map(|row| row.text(0)).collect::<Result<Vec<_>, _>>()?;
        let near = if names.is_empty() {
            String::new()
        } else {
            format!("; there is: {}", names.join(", "))
        };
        Err(LibrarianError::NoNode { name: name.shown().to_owned(), near })
    }

    /// The numbers of some predicates; none where all are meant.
    async fn predicates(
        &self,
        names: &[Name],
        cut: &mut Vec<String>,
    ) -> Result<Option<Vec<i64>>, LibrarianError> {
        if names.is_empty() {
            return Ok(None);
        }
        let mut found = Vec::with_capacity(names.len());
        for name in names {
            let find = Statement::new("SELECT id FROM graph_predicates WHERE folded = $1");
            let rows = self.database.query(find.bind(name.folded()).brief()).await?;
            match rows.first() {
                Some(row) => found.push(row.integer(0)?),
                None => cut.push(format!("no relation has the predicate {:?}", name.shown())),
            }
        }
        Ok(Some(found))
    }

    /// Puts names to numbers.
    pub(super) async fn named(
        &self,
        walk: &Walk,
    ) -> Result<(Vec<ReachedNode>, Vec<ReachedEdge>), LibrarianError> {
        let nodes: Vec<i64> = walk.nodes.iter().map(|node| node.id).collect();
        let mut predicates: Vec<i64> = walk.edges.iter().map(|edge| edge.predicate).collect();
        predicates.sort_unstable();
        predicates.dedup();
        let nodes = self.names("graph_nodes", &nodes).await?;
        let predicates = self.names("graph_predicates", &predicates).await?;
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
                subject: walk.index(edge.subject)?,
                predicate: name(&predicates, edge.predicate),
                object: walk.index(edge.object)?,
            })
        });
        Ok((reached.collect(), edges.collect()))
    }

    async fn names(
        &self,
        table: &'static str,
        ids: &[i64],
    ) -> Result<HashMap<i64, Arc<str>>, LibrarianError> {
        let mut names = HashMap::with_capacity(ids.len());
        if ids.is_empty() {
            return Ok(names);
        }
        let dialect = self.database.dialect();
        let sql = format!("SELECT id, name FROM {table} WHERE id {}", among(dialect));
        for row in self.database.query(Statement::new(sql).bind(list(dialect, ids))).await? {
            names.insert(row.integer(0)?, Arc::from(row.text(1)?));
        }
        Ok(names)
    }
}
