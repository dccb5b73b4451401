//! Measures what following relations costs: three steps from a node, in graphs of different sizes.

use anyhow::{Result, ensure};
use lango_librarian::graph::{
    Direction, Graph, GraphName, NewTriple, TraversalLimits, TraversalRequest,
};
use lango_librarian::inquiries::InquirySettings;
use lango_librarian::{Holdings, Provenance};
use lango_protocol::Space;
use lango_retrieval::RetrievalIndex;
use lango_store::{Database, DatabaseLocation};
use tokio_util::sync::CancellationToken;

use crate::{REPEATS, block_on, figures, finish};

/// Relations that each node has to others.
const FAN_OUT: usize = 10;
/// Traversals in one measurement, each from another node.
const TRAVERSALS: u32 = 50;
/// Steps.
const DEPTH: u32 = 3;
/// Room for everything within three steps.
const ALL: TraversalLimits = TraversalLimits { nodes: 5_000, edges: 10_000 };
/// The limits that the tool has.
const TOOL: TraversalLimits = TraversalLimits { nodes: 200, edges: 400 };

pub(crate) fn measure() -> Result<()> {
    let mut table = figures::Table::default();
    for edges in [1_000, 10_000, 100_000] {
        let directory = tempfile::tempdir()?;
        let location = DatabaseLocation::Sqlite(directory.path().join("lango.db"));
        block_on(async {
            let index = RetrievalIndex::open(Database::open(&location).await?, None).await?;
            let holdings = Holdings::open(index, InquirySettings::default()).await?;
            let stores = holdings.in_space(&Space::Owner);
            let graph = stores.graph();
            fill(graph, edges).await?;
            let limit = (edges == 100_000).then_some(5.0);
            for (what, limits, direction, limit) in [
                ("all of it", ALL, Direction::Out, limit),
                ("both ways, as the tool limits it", TOOL, Direction::Both, limit),
            ] {
                let mut reached = 0;
                let mut taken = Vec::with_capacity(REPEATS);
                for repeat in 0..=REPEATS {
                    let before = crate::worker::cpu();
                    for number in 0..TRAVERSALS {
                        let start = (number as usize * 7 + repeat * 13) % (edges / FAN_OUT);
                        reached += follow(graph, start, limits, direction).await?;
                    }
                    let spent = crate::worker::cpu().saturating_sub(before);
                    // The first round fills the caches.
                    if repeat > 0 {
                        taken.push(spent.as_secs_f64() * 1000.0 / f64::from(TRAVERSALS));
                    }
                }
                let each = reached / (TRAVERSALS as usize * (REPEATS + 1));
                let name = format!("{edges} edges, {DEPTH} steps, {what} ({each} edges), CPU-ms");
                table.add(&name, limit, taken);
            }
            Ok(())
        })?;
    }
    finish(&table)
}

/// A graph in which neighbours are spread evenly, so that three steps reach as much as they can.
async fn fill(graph: &Graph, edges: usize) -> Result<()> {
    let nodes = edges / FAN_OUT;
    let mut triples = Vec::with_capacity(edges);
    for subject in 0..nodes {
        for number in 0..FAN_OUT {
            // Multipliers without a common pattern stand in for chance, the same in every run.
            let object = (subject * 7_919 + (number + 1) * 104_729) % nodes;
            triples.push(NewTriple {
                subject: name(subject)?,
                predicate: GraphName::new("predicate", &format!("relates to in way {number}"))?,
                object: name(object)?,
                provenance: Provenance { by: "bench".to_owned(), ..Provenance::default() },
                valid_from: None,
                mentioned_in: Vec::new(),
            });
        }
    }
    graph.add_all(&triples).await?;
    let (_, stored) = graph.count_nodes_and_relations().await?;
    ensure!(stored == edges as u64, "{stored} of {edges} relations are there");
    Ok(())
}

async fn follow(
    graph: &Graph,
    start: usize,
    limits: TraversalLimits,
    direction: Direction,
) -> Result<usize> {
    let reach = TraversalRequest {
        start: name(start)?,
        depth: DEPTH,
        predicates: Vec::new(),
        direction,
        at: None,
        limits,
        mark_open: false,
    };
    Ok(graph.traverse(&reach, &CancellationToken::new()).await?.edges.len())
}

fn name(number: usize) -> Result<GraphName> {
    Ok(GraphName::new("node", &format!("A thing of the world, number {number}"))?)
}
