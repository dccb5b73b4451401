//! Which indexed texts mention which nodes, and what is related to a text through the graph.

use std::collections::HashSet;

use lango_protocol::Timestamp;
use lango_retrieval::{EntryKey, Space};
use lango_store::Statement;
use tokio_util::sync::CancellationToken;

use super::frontier::{among, list};
use super::walk::{Walk, Way};
use super::{Direction, Graph, Limits, Name, ReachedEdge, ReachedNode};
use crate::LibrarianError;

/// What a search for related texts goes through at most.
const LIMITS: Limits = Limits { nodes: 2_000, edges: 5_000 };
/// Texts that a search starts from at most.
const MOST_STARTS: usize = 50;
/// Mentions that are looked through at most.
const MOST_MENTIONS: i64 = 5_000;

/// A text that is related to another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelatedEntry {
    /// The text.
    pub entry: EntryKey,
    /// How many relations lie between them; 0 where both mention the same node.
    pub distance: u32,
    /// What led there, in words.
    pub path: String,
}

impl Graph {
    /// Notes that a text mentions a node that is known.
    pub async fn link(&self, node: &Name, entry: &EntryKey) -> Result<(), LibrarianError> {
        self.node(node).await?;
        self.database.write(mention(node, entry).into()).await?;
        Ok(())
    }

    /// Forgets what a text mentions, because the text is gone.
    pub async fn unlink(&self, entry: &EntryKey) -> Result<(), LibrarianError> {
        let statement = Statement::new(
            "DELETE FROM graph_mentions WHERE space = $1 AND collection = $2 AND entry = $3",
        );
        self.database.write(keyed(statement, entry).into()).await?;
        Ok(())
    }

    /// Texts that mention a node or what is near to it, the nearest first.
    pub async fn related_documents(
        &self,
        node: &Name,
        depth: u32,
        limit: usize,
    ) -> Result<Vec<RelatedEntry>, LibrarianError> {
        let node = self.node(node).await?;
        self.around(&[node], &HashSet::new(), depth, limit).await
    }

    /// Texts that are related to these through what they mention, the nearest first.
    pub async fn neighbours_of_entries(
        &self,
        entries: &[EntryKey],
        depth: u32,
        limit: usize,
    ) -> Result<Vec<RelatedEntry>, LibrarianError> {
        let mut nodes = Vec::new();
        let mut seen = HashSet::new();
        for entry in entries.iter().take(MOST_STARTS) {
            let find = Statement::new(
                "SELECT node FROM graph_mentions \
                 WHERE space = $1 AND collection = $2 AND entry = $3 ORDER BY node LIMIT 200",
            );
            for row in self.database.query(keyed(find, entry).brief()).await? {
                let node = row.integer(0)?;
                if seen.insert(node) {
                    nodes.push(node);
                }
            }
        }
        let known = entries.iter().cloned().collect();
        self.around(&nodes, &known, depth, limit).await
    }

    async fn around(
        &self,
        starts: &[i64],
        known: &HashSet<EntryKey>,
        depth: u32,
        limit: usize,
    ) -> Result<Vec<RelatedEntry>, LibrarianError> {
        if starts.is_empty() || limit == 0 {
            return Ok(Vec::new());
        }
        let way = Way {
            depth: depth.min(super::traversal::DEEPEST),
            predicates: None,
            direction: Direction::Both,
            at: Timestamp::now().as_microseconds(),
            limits: LIMITS,
            mark_open: false,
        };
        let walk = Walk::go(&self.database, starts, &way, &CancellationToken::new()).await?;
        let mut mentions = self.mentions(&walk).await?;
        mentions.sort_by(|(one, a), (other, b)| {
            let depth = |index: &usize| walk.nodes[*index].depth;
            (depth(one), one, a).cmp(&(depth(other), other, b))
        });
        let (nodes, edges) = self.named(&walk).await?;
        let mut seen = known.clone();
        let mut related = Vec::new();
        for (index, entry) in mentions {
            if related.len() >= limit {
                break;
            }
            if seen.insert(entry.clone()) {
                let distance = nodes[index].depth;
                related.push(RelatedEntry { entry, distance, path: path(&nodes, &edges, index) });
            }
        }
        Ok(related)
    }

    /// Who mentions the nodes of a walk: the index of the node, and the text.
    async fn mentions(&self, walk: &Walk) -> Result<Vec<(usize, EntryKey)>, LibrarianError> {
        let nodes: Vec<i64> = walk.nodes.iter().map(|node| node.id).collect();
        let dialect = self.database.dialect();
        let sql = format!(
            "SELECT node, space, collection, entry FROM graph_mentions WHERE node {} LIMIT $2",
            among(dialect)
        );
        let statement = Statement::new(sql).bind(list(dialect, &nodes)).bind(MOST_MENTIONS);
        let rows = self.database.query(statement).await?;
        let mut mentions = Vec::with_capacity(rows.len());
        for row in rows {
            let space = row.text(1)?;
            // A space that only a newer program knows is left out.
            let space = Space::ALL.into_iter().find(|known| known.as_str() == space);
            if let (Some(space), Some(index)) = (space, walk.index(row.integer(0)?)) {
                mentions.push((index, EntryKey::new(space, row.text(2)?, row.text(3)?)));
            }
        }
        Ok(mentions)
    }
}

/// Notes a mention of a node that is there by then.
pub(super) fn mention(node: &Name, entry: &EntryKey) -> Statement {
    let statement = Statement::new(
        "INSERT INTO graph_mentions (space, collection, entry, node) \
         SELECT CAST($1 AS TEXT), CAST($2 AS TEXT), CAST($3 AS TEXT), id \
         FROM graph_nodes WHERE folded = $4 ON CONFLICT DO NOTHING",
    );
    keyed(statement, entry).bind(node.folded())
}

fn keyed(statement: Statement, entry: &EntryKey) -> Statement {
    statement.bind(entry.space.as_str()).bind(entry.collection.as_str()).bind(entry.key.as_str())
}

/// The relations from a start to a node, such as `Ada -wrote-> Notes <-cites- Essay`.
fn path(nodes: &[ReachedNode], edges: &[ReachedEdge], end: usize) -> String {
    let mut parts = Vec::new();
    let mut node = end;
    while let Some(edge) = nodes[node].via.and_then(|via| edges.get(via)) {
        let (before, arrow) = if edge.object == node {
            (edge.subject, format!(" -{}-> ", edge.predicate))
        } else {
            (edge.object, format!(" <-{}- ", edge.predicate))
        };
        parts.push(format!("{arrow}{}", nodes[node].name));
        // Each step leads to an earlier level; anything else would be a defect, and no reason to
        // go on for ever.
        if nodes[before].depth >= nodes[node].depth {
            break;
        }
        node = before;
    }
    parts.push(nodes[node].name.to_string());
    parts.reverse();
    parts.concat()
}
