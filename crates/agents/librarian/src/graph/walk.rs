//! Breadth first, level by level, in numbers only: the inside of every traversal.

use std::collections::{HashMap, HashSet};

use lango_store::Database;
use tokio_util::sync::CancellationToken;

use super::frontier::{self, Edge, Step};
use super::{Direction, Limits};
use crate::LibrarianError;

/// Relations behind the last level that are looked at.
const LOOKED_AT: usize = 50_000;

/// How to go.
pub(super) struct Way<'a> {
    pub(super) depth: u32,
    pub(super) predicates: Option<&'a [i64]>,
    pub(super) direction: Direction,
    /// Microseconds.
    pub(super) at: i64,
    pub(super) limits: Limits,
    /// Whether to look at what lies behind the last level.
    pub(super) mark_open: bool,
}

/// A node that was reached.
pub(super) struct Reached {
    pub(super) id: i64,
    pub(super) depth: u32,
    /// The relation that led here first; none for a start.
    pub(super) via: Option<usize>,
    /// Whether it has relations that were not followed.
    pub(super) open: bool,
}

/// Where one got to.
#[derive(Default)]
pub(super) struct Walk {
    pub(super) nodes: Vec<Reached>,
    /// Both ends of each are among the nodes.
    pub(super) edges: Vec<Edge>,
    pub(super) too_many_nodes: bool,
    pub(super) too_many_edges: bool,
    known: HashMap<i64, usize>,
    seen: HashSet<i64>,
}

impl Walk {
    /// Goes from some nodes. Each is visited once, so circles end by themselves.
    pub(super) async fn go(
        database: &Database,
        starts: &[i64],
        way: &Way<'_>,
        cancel: &CancellationToken,
    ) -> Result<Self, LibrarianError> {
        let mut walk = Self::default();
        let mut frontier = Vec::with_capacity(starts.len());
        for start in starts {
            if walk.reach(*start, 0, None, way.limits) == Some(true) {
                frontier.push(*start);
            }
        }
        for depth in 1..=way.depth {
            if frontier.is_empty() || walk.too_many_edges {
                break;
            }
            // Reaching the limit means that there are more: one way, each relation comes once, and
            // both ways, all of them may come twice.
            let limit = match way.direction {
                Direction::Both => way.limits.edges.saturating_mul(2),
                _ => way.limits.edges.saturating_sub(walk.edges.len()),
            }
            .saturating_add(1);
            let found = step(database, &frontier, way, limit, cancel).await?;
            let full = found.len() >= limit;
            frontier = walk.take(&found, &frontier, depth, way);
            walk.too_many_edges |= full;
        }
        if way.mark_open && !frontier.is_empty() {
            walk.mark_open(database, &frontier, way, cancel).await?;
        }
        Ok(walk)
    }

    /// Adds the relations of one level and returns the nodes that are new.
    fn take(&mut self, found: &[Edge], from: &[i64], depth: u32, way: &Way<'_>) -> Vec<i64> {
        let from: HashSet<i64> = from.iter().copied().collect();
        let mut next = Vec::new();
        for edge in found {
            if !self.seen.insert(edge.id) {
                continue;
            }
            if self.edges.len() >= way.limits.edges {
                self.too_many_edges = true;
                break;
            }
            let other = match way.direction {
                Direction::Out => edge.object,
                Direction::Both if from.contains(&edge.subject) => edge.object,
                Direction::In | Direction::Both => edge.subject,
            };
            match self.reach(other, depth, Some(self.edges.len()), way.limits) {
                None => continue,
                Some(true) => next.push(other),
                Some(false) => {}
            }
            self.edges.push(*edge);
        }
        next
    }

    /// Whether a node is new; none where there is no room for it.
    fn reach(&mut self, id: i64, depth: u32, via: Option<usize>, limits: Limits) -> Option<bool> {
        if self.known.contains_key(&id) {
            return Some(false);
        }
        if self.nodes.len() >= limits.nodes {
            self.too_many_nodes = true;
            return None;
        }
        self.known.insert(id, self.nodes.len());
        self.nodes.push(Reached { id, depth, via, open: false });
        Some(true)
    }

    async fn mark_open(
        &mut self,
        database: &Database,
        last: &[i64],
        way: &Way<'_>,
        cancel: &CancellationToken,
    ) -> Result<(), LibrarianError> {
        let last: HashSet<i64> = last.iter().copied().collect();
        let nodes: Vec<i64> = last.iter().copied().collect();
        for edge in step(database, &nodes, way, LOOKED_AT, cancel).await? {
            if self.seen.contains(&edge.id) {
                continue;
            }
            for end in [edge.subject, edge.object] {
                if last.contains(&end)
                    && let Some(index) = self.known.get(&end)
                {
                    self.nodes[*index].open = true;
                }
            }
        }
        Ok(())
    }

    /// Where a node is in the list.
    pub(super) fn index(&self, id: i64) -> Option<usize> {
        self.known.get(&id).copied()
    }
}

async fn step(
    database: &Database,
    nodes: &[i64],
    way: &Way<'_>,
    limit: usize,
    cancel: &CancellationToken,
) -> Result<Vec<Edge>, LibrarianError> {
    let step =
        Step { nodes, predicates: way.predicates, direction: way.direction, at: way.at, limit };
    tokio::select! {
        biased;
        () = cancel.cancelled() => Err(LibrarianError::Cancelled),
        edges = frontier::edges(database, &step) => edges,
    }
}
