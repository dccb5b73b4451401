//! Walks breadth first, level by level, on ids only: the core of every traversal.

use std::collections::{HashMap, HashSet};

use lango_store::Database;
use tokio_util::sync::CancellationToken;

use super::frontier::{self, FrontierQuery, GraphEdge};
use super::{Direction, TraversalLimits};
use crate::LibrarianError;

/// Limits how many relations beyond the last level are read.
const MAX_OPEN_EDGE_COUNT: usize = 50_000;

/// Describes a walk.
pub(super) struct WalkOptions<'a> {
    pub(super) depth: u32,
    pub(super) predicates: Option<&'a [i64]>,
    pub(super) direction: Direction,
    /// The time at which the relations hold, in microseconds.
    pub(super) at: i64,
    pub(super) limits: TraversalLimits,
    /// True to look for relations beyond the last level.
    pub(super) mark_open: bool,
}

/// Represents a node that was reached.
pub(super) struct VisitedNode {
    pub(super) id: i64,
    pub(super) depth: u32,
    /// The index of the relation that led here first; none for a start.
    pub(super) via: Option<usize>,
    /// True if it has relations that were not followed.
    pub(super) open: bool,
}

/// The result of a walk.
#[derive(Default)]
pub(super) struct GraphWalk {
    pub(super) nodes: Vec<VisitedNode>,
    /// The relations; both ends of each are among the nodes.
    pub(super) edges: Vec<GraphEdge>,
    pub(super) too_many_nodes: bool,
    pub(super) too_many_edges: bool,
    indexes: HashMap<i64, usize>,
    seen: HashSet<i64>,
}

impl GraphWalk {
    /// Walks from some nodes. Each is visited once, so cycles end by themselves.
    pub(super) async fn run(
        database: &Database,
        starts: &[i64],
        options: &WalkOptions<'_>,
        cancel: &CancellationToken,
    ) -> Result<Self, LibrarianError> {
        let mut walk = Self::default();
        let mut frontier = Vec::with_capacity(starts.len());
        for start in starts {
            if walk.add_node(*start, 0, None, options.limits) == Some(true) {
                frontier.push(*start);
            }
        }
        for depth in 1..=options.depth {
            if frontier.is_empty() || walk.too_many_edges {
                break;
            }
            // Reaching the limit means that there are more. In one direction each relation is read
            // once; in both directions it may be read twice.
            let limit = match options.direction {
                Direction::Both => options.limits.edges.saturating_mul(2),
                _ => options.limits.edges.saturating_sub(walk.edges.len()),
            }
            .saturating_add(1);
            let found = read_level(database, &frontier, options, limit, cancel).await?;
            let full = found.len() >= limit;
            frontier = walk.add_level(&found, &frontier, depth, options);
            walk.too_many_edges |= full;
        }
        if options.mark_open && !frontier.is_empty() {
            walk.mark_open(database, &frontier, options, cancel).await?;
        }
        Ok(walk)
    }

    /// Adds the relations of one level and returns the nodes that are new.
    fn add_level(
        &mut self,
        found: &[GraphEdge],
        from: &[i64],
        depth: u32,
        options: &WalkOptions<'_>,
    ) -> Vec<i64> {
        let from: HashSet<i64> = from.iter().copied().collect();
        let mut next = Vec::new();
        for edge in found {
            if !self.seen.insert(edge.id) {
                continue;
            }
            if self.edges.len() >= options.limits.edges {
                self.too_many_edges = true;
                break;
            }
            let other = match options.direction {
                Direction::Out => edge.object,
                Direction::Both if from.contains(&edge.subject) => edge.object,
                Direction::In | Direction::Both => edge.subject,
            };
            match self.add_node(other, depth, Some(self.edges.len()), options.limits) {
                None => continue,
                Some(true) => next.push(other),
                Some(false) => {}
            }
            self.edges.push(*edge);
        }
        next
    }

    /// Adds a node. Returns whether it is new; none if the limit is reached.
    fn add_node(
        &mut self,
        id: i64,
        depth: u32,
        via: Option<usize>,
        limits: TraversalLimits,
    ) -> Option<bool> {
        if self.indexes.contains_key(&id) {
            return Some(false);
        }
        if self.nodes.len() >= limits.nodes {
            self.too_many_nodes = true;
            return None;
        }
        self.indexes.insert(id, self.nodes.len());
        self.nodes.push(VisitedNode { id, depth, via, open: false });
        Some(true)
    }

    async fn mark_open(
        &mut self,
        database: &Database,
        last: &[i64],
        options: &WalkOptions<'_>,
        cancel: &CancellationToken,
    ) -> Result<(), LibrarianError> {
        let last: HashSet<i64> = last.iter().copied().collect();
        let nodes: Vec<i64> = last.iter().copied().collect();
        for edge in read_level(database, &nodes, options, MAX_OPEN_EDGE_COUNT, cancel).await? {
            if self.seen.contains(&edge.id) {
                continue;
            }
            for end in [edge.subject, edge.object] {
                if last.contains(&end)
                    && let Some(index) = self.indexes.get(&end)
                {
                    self.nodes[*index].open = true;
                }
            }
        }
        Ok(())
    }

    /// Returns the index of a node.
    pub(super) fn node_index(&self, id: i64) -> Option<usize> {
        self.indexes.get(&id).copied()
    }
}

async fn read_level(
    database: &Database,
    nodes: &[i64],
    options: &WalkOptions<'_>,
    limit: usize,
    cancel: &CancellationToken,
) -> Result<Vec<GraphEdge>, LibrarianError> {
    let step = FrontierQuery {
        nodes,
        predicates: options.predicates,
        direction: options.direction,
        at: options.at,
        limit,
    };
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(LibrarianError::Cancelled),
        edges = frontier::read_edges(database, &step) => edges,
    }
}
