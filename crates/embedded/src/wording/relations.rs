//! Relations of the knowledge graph.

use lango_model::AnsweredCall;
use serde::Deserialize;

use super::answer::{Answer, code, count, inline};
use super::deed::given;
use super::knowledge::result;

/// Characters of a name.
const LONGEST_NAME: usize = 160;

#[derive(Deserialize)]
struct Added {
    outcome: Outcome,
    #[serde(flatten)]
    relation: Relation,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Stored,
    AlreadyThere,
}

#[derive(Deserialize)]
struct Relation {
    subject: String,
    predicate: String,
    object: String,
    source: Option<String>,
}

impl Relation {
    fn told(&self) -> String {
        let Self { subject, predicate, object, source } = self;
        let told = edge([subject, predicate, object]);
        match source {
            Some(source) => format!("{told} (from {})", inline(source, LONGEST_NAME)),
            None => told,
        }
    }
}

fn edge(parts: [&str; 3]) -> String {
    parts.map(|part| inline(part, LONGEST_NAME)).join(" – ")
}

/// `graph_add`.
pub(super) fn added(call: &AnsweredCall) -> Option<Answer> {
    let Added { outcome, relation } = result(call)?;
    let told = relation.told();
    Some(Answer::new(match outcome {
        Outcome::Stored => format!("Recorded: {told}"),
        Outcome::AlreadyThere => format!("Was on record already: {told}"),
    }))
}

#[derive(Deserialize)]
struct Found {
    triples: Vec<Relation>,
    note: Option<String>,
}

/// `graph_query`.
pub(super) fn found(call: &AnsweredCall) -> Option<Answer> {
    let Found { triples, note } = result(call)?;
    if triples.is_empty() {
        let note =
            note.map_or_else(|| "no such relation is on record".to_owned(), |n| inline(&n, 300));
        return Some(Answer::new(format!("Nothing was found: {note}.")));
    }
    let lines: Vec<String> = triples.iter().map(|one| format!("- {}", one.told())).collect();
    let relations = count(lines.len(), "relation", "relations");
    let answer = Answer::new(format!("{relations} on record:")).lines(lines.join("\n"));
    Some(match note {
        Some(note) => answer.note(format!("({})", inline(&note, 300))),
        None => answer,
    })
}

#[derive(Deserialize)]
struct Start {
    start_node: String,
}

#[derive(Deserialize)]
struct Reached {
    nodes: Vec<Node>,
    edges: Vec<[String; 3]>,
    #[serde(default)]
    incomplete: Vec<String>,
}

#[derive(Deserialize)]
struct Node {
    /// The node at which it began has none.
    depth: u32,
}

/// `graph_traverse`.
pub(super) fn reached(call: &AnsweredCall) -> Option<Answer> {
    let Reached { nodes, edges, incomplete } = result(call)?;
    let Start { start_node } = given(call)?;
    let start = code(&start_node);
    let reached = nodes.iter().filter(|node| node.depth > 0).count();
    let answer = if edges.is_empty() {
        Answer::new(format!("Nothing is related to {start}."))
    } else {
        let things = count(reached, "thing is", "things are");
        let lines = edges.iter().map(|[subject, predicate, object]| {
            format!("- {}", edge([subject, predicate, object]))
        });
        let lines: Vec<String> = lines.collect();
        Answer::new(format!("{things} related to {start}:")).lines(lines.join("\n"))
    };
    Some(
        incomplete
            .iter()
            .fold(answer, |answer, why| answer.note(format!("({})", inline(why, 300)))),
    )
}
