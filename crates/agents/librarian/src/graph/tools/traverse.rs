//! Implements `graph_traverse`, which follows relations from a node.

use lango_protocol::CallReport;
use lango_text::{code_span, plural};
use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::relation::render_relation;
use crate::Holdings;
use crate::graph::{Direction, GraphName, Traversal, TraversalLimits, TraversalRequest};
use crate::reporting::{describe_activity, with_remark};

const LIMITS: TraversalLimits = TraversalLimits { nodes: 200, edges: 400 };
/// Limits the predicates of one call.
const MAX_PREDICATE_COUNT: usize = 100;

pub(crate) struct FollowRelations {
    holdings: Holdings,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TraverseArguments {
    /// The node to start from.
    start_node: String,
    /// How many relations away at most.
    #[serde(default = "default_depth")]
    max_depth: u32,
    /// Follow only these predicates.
    #[serde(default)]
    predicates: Vec<String>,
    /// `out` from subject to object, `in` the other way, or `both`.
    #[serde(default)]
    direction: Direction,
}

fn default_depth() -> u32 {
    2
}

/// Holds the nodes by distance, and the relations between them.
#[derive(Debug, Serialize)]
pub(crate) struct TraverseOutput {
    nodes: Vec<NodeView>,
    edges: Vec<[String; 3]>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    incomplete: Vec<String>,
}

#[derive(Debug, Serialize)]
struct NodeView {
    name: String,
    depth: u32,
}

impl FollowRelations {
    pub(crate) fn new(holdings: Holdings) -> Self {
        Self { holdings }
    }
}

impl Tool for FollowRelations {
    type Arguments = TraverseArguments;
    type Output = TraverseOutput;
    const NAME: &'static str = "graph_traverse";
    const DESCRIPTION: &'static str = "Follows relations of the knowledge graph from a node, the \
         nearest first. Each edge of the result is [subject, predicate, object].";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(
        &self,
        given: TraverseArguments,
        context: ToolContext,
    ) -> Result<TraverseOutput, ToolError> {
        let stores = self.holdings.in_space(context.space.own());
        if given.max_depth == 0 {
            return Err(ToolError::Arguments("max_depth must be at least 1".to_owned()));
        }
        if given.predicates.len() > MAX_PREDICATE_COUNT {
            return Err(ToolError::Arguments(format!(
                "at most {MAX_PREDICATE_COUNT} predicates can be named; leave them out to follow all"
            )));
        }
        let predicate = |text: &String| GraphName::new("predicate", text);
        let request = TraversalRequest {
            start: GraphName::new("start_node", &given.start_node)?,
            depth: given.max_depth,
            predicates: given.predicates.iter().map(predicate).collect::<Result<_, _>>()?,
            direction: given.direction,
            at: None,
            limits: LIMITS,
            mark_open: false,
        };
        Ok(convert_traversal(stores.graph().traverse(&request, &context.cancel).await?))
    }

    fn describe(&self, given: &TraverseArguments) -> Option<String> {
        describe_activity("Following the relations of", &given.start_node)
    }

    fn report(&self, given: &TraverseArguments, reached: &TraverseOutput) -> Option<CallReport> {
        let start = code_span(&given.start_node);
        let report = if reached.edges.is_empty() {
            CallReport::new(format!("Nothing is related to {start}."))
        } else {
            // The node at which it began has depth 0.
            let others = reached.nodes.iter().filter(|node| node.depth > 0).count();
            let things = plural(others, "thing is", "things are");
            let line = |[subject, predicate, object]: &[String; 3]| {
                format!("- {}", render_relation([subject, predicate, object]))
            };
            let lines: Vec<String> = reached.edges.iter().map(line).collect();
            CallReport::new(format!("{things} related to {start}:")).markdown(lines.join("\n"))
        };
        let incomplete = reached.incomplete.iter();
        let report = incomplete.fold(report, |report, why| with_remark(report, Some(why)));
        Some(report.data(reached))
    }
}

fn convert_traversal(found: Traversal) -> TraverseOutput {
    let name = |index: usize| found.nodes[index].name.to_string();
    TraverseOutput {
        edges: found
            .edges
            .iter()
            .map(|edge| [name(edge.subject), edge.predicate.to_string(), name(edge.object)])
            .collect(),
        nodes: found
            .nodes
            .iter()
            .map(|node| NodeView { name: node.name.to_string(), depth: node.depth })
            .collect(),
        incomplete: found.cut,
    }
}
