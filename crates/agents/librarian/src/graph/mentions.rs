//! Records which indexed texts mention which nodes, and finds texts that are related through the
//! graph.

use std::collections::HashSet;

use lango_protocol::Timestamp;
use lango_retrieval::{EntryKey, EntryKind};
use lango_store::Statement;
use tokio_util::sync::CancellationToken;

use super::frontier::{in_list_condition, render_id_list};
use super::walk::{GraphWalk, WalkOptions};
use super::{Direction, Graph, GraphName, ReachedEdge, ReachedNode, TraversalLimits};
use crate::LibrarianError;

/// Limits the traversal of a search for related texts.
const RELATED_LIMITS: TraversalLimits = TraversalLimits { nodes: 2_000, edges: 5_000 };
/// Limits the texts that a search starts from.
const MAX_START_COUNT: usize = 50;
/// Limits the mentions that are read.
const MAX_MENTION_COUNT: i64 = 5_000;

/// Represents a text that is related to another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelatedEntry {
    /// The text.
    pub entry: EntryKey,
    /// The number of relations between them; 0 if both mention the same node.
    pub distance: u32,
    /// The path to it, in words.
    pub path: String,
}

impl Graph {
    /// Records that a text mentions an existing node.
    pub async fn link(&self, node: &GraphName, entry: &EntryKey) -> Result<(), LibrarianError> {
        self.find_node_id(node).await?;
        self.database.write(insert_mention(self.client(), node, entry).into()).await?;
        Ok(())
    }

    /// Removes the mentions of a text that was removed.
    pub async fn remove_mentions(&self, entry: &EntryKey) -> Result<(), LibrarianError> {
        let statement = Statement::new(
            "DELETE FROM graph_mentions WHERE space = $1 AND collection = $2 AND entry = $3 \
             AND node IN (SELECT id FROM graph_nodes WHERE client = $4)",
        );
        let statement = bind_entry(statement, entry).bind(self.client());
        self.database.write(statement.into()).await?;
        Ok(())
    }

    /// Returns texts that mention a node or its neighbours, the nearest first.
    pub async fn find_related_texts(
        &self,
        node: &GraphName,
        depth: u32,
        limit: usize,
    ) -> Result<Vec<RelatedEntry>, LibrarianError> {
        let node = self.find_node_id(node).await?;
        self.find_related(&[node], &HashSet::new(), depth, limit).await
    }

    /// Returns texts that are related to these through common nodes, the nearest first.
    pub async fn find_texts_related_to(
        &self,
        entries: &[EntryKey],
        depth: u32,
        limit: usize,
    ) -> Result<Vec<RelatedEntry>, LibrarianError> {
        let mut nodes = Vec::new();
        let mut seen = HashSet::new();
        for entry in entries.iter().take(MAX_START_COUNT) {
            let find = Statement::new(
                "SELECT m.node FROM graph_mentions m JOIN graph_nodes n ON n.id = m.node \
                 WHERE m.space = $1 AND m.collection = $2 AND m.entry = $3 AND n.client = $4 \
                 ORDER BY m.node LIMIT 200",
            );
            let find = bind_entry(find, entry).bind(self.client());
            for row in self.database.query(find).await? {
                let node = row.integer(0)?;
                if seen.insert(node) {
                    nodes.push(node);
                }
            }
        }
        let known = entries.iter().cloned().collect();
        self.find_related(&nodes, &known, depth, limit).await
    }

    async fn find_related(
        &self,
        starts: &[i64],
        known: &HashSet<EntryKey>,
        depth: u32,
        limit: usize,
    ) -> Result<Vec<RelatedEntry>, LibrarianError> {
        if starts.is_empty() || limit == 0 {
            return Ok(Vec::new());
        }
        let options = WalkOptions {
            depth: depth.min(super::traversal::MAX_DEPTH),
            predicates: None,
            direction: Direction::Both,
            at: Timestamp::now().as_microseconds(),
            limits: RELATED_LIMITS,
            mark_open: false,
        };
        let walk =
            GraphWalk::run(&self.database, starts, &options, &CancellationToken::new()).await?;
        let mut mentions = self.list_mentions(&walk).await?;
        mentions.sort_by(|(one, a), (other, b)| {
            let depth = |index: &usize| walk.nodes[*index].depth;
            (depth(one), one, a).cmp(&(depth(other), other, b))
        });
        let (nodes, edges) = self.resolve_names(&walk).await?;
        let mut seen = known.clone();
        let mut related = Vec::new();
        for (index, entry) in mentions {
            if related.len() >= limit {
                break;
            }
            if seen.insert(entry.clone()) {
                let distance = nodes[index].depth;
                related.push(RelatedEntry {
                    entry,
                    distance,
                    path: render_path(&nodes, &edges, index),
                });
            }
        }
        Ok(related)
    }

    /// Returns the mentions of a walk's nodes: the index of the node, and the text.
    async fn list_mentions(
        &self,
        walk: &GraphWalk,
    ) -> Result<Vec<(usize, EntryKey)>, LibrarianError> {
        let nodes: Vec<i64> = walk.nodes.iter().map(|node| node.id).collect();
        let dialect = self.database.dialect();
        let sql = format!(
            "SELECT node, space, collection, entry FROM graph_mentions WHERE node {} LIMIT $2",
            in_list_condition(dialect)
        );
        let statement =
            Statement::new(sql).bind(render_id_list(dialect, &nodes)).bind(MAX_MENTION_COUNT);
        let rows = self.database.query(statement).await?;
        let mut mentions = Vec::with_capacity(rows.len());
        for row in rows {
            let kind = row.text(1)?;
            // A kind that only a newer version knows is left out.
            let kind = EntryKind::ALL.into_iter().find(|known| known.as_str() == kind);
            if let (Some(kind), Some(index)) = (kind, walk.node_index(row.integer(0)?)) {
                mentions.push((index, EntryKey::new(kind, row.text(2)?, row.text(3)?)));
            }
        }
        Ok(mentions)
    }
}

/// Returns the statement that records a mention of a node that exists by then.
pub(super) fn insert_mention(client: &str, node: &GraphName, entry: &EntryKey) -> Statement {
    let statement = Statement::new(
        "INSERT INTO graph_mentions (space, collection, entry, node) \
         SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS TEXT), id \
         FROM graph_nodes WHERE folded = $4 AND client = $5 ON CONFLICT DO NOTHING",
    );
    bind_entry(statement, entry).bind(node.folded()).bind(client)
}

fn bind_entry(statement: Statement, entry: &EntryKey) -> Statement {
    statement.bind(entry.kind.as_str()).bind(entry.collection.as_str()).bind(entry.key.as_str())
}

/// Returns the relations from a start to a node, such as `Ada -wrote-> Notes <-cites- Essay`.
fn render_path(nodes: &[ReachedNode], edges: &[ReachedEdge], end: usize) -> String {
    let mut parts = Vec::new();
    let mut node = end;
    while let Some(edge) = nodes[node].via.and_then(|via| edges.get(via)) {
        let (before, arrow) = if edge.object == node {
            (edge.subject, format!(" -{}-> ", edge.predicate))
        } else {
            (edge.object, format!(" <-{}- ", edge.predicate))
        };
        parts.push(format!("{arrow}{}", nodes[node].name));
        // Each step leads to an earlier level; anything else is a defect, which must not become an
        // endless loop.
        if nodes[before].depth >= nodes[node].depth {
            break;
        }
        node = before;
    }
    parts.push(nodes[node].name.to_string());
    parts.reverse();
    parts.concat()
}
