//! Implements `graph_query`, which finds relations.

use lango_protocol::CallReport;
use lango_text::{code_span, plural, to_one_line};
use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::relation::render_relation;
use crate::Holdings;
use crate::graph::{GraphName, RelationQuery, Triple};
use crate::reporting::{MAX_NAME_CHARACTERS, MAX_REMARK_CHARACTERS, with_remark};

/// Limits the relations in one result.
const MAX_RELATION_COUNT: u32 = 100;

pub(crate) struct QueryRelations {
    holdings: Holdings,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct QueryArguments {
    /// What the relations are about.
    subject: Option<String>,
    /// How the two relate.
    predicate: Option<String>,
    /// What they relate to.
    object: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct QueryOutput {
    triples: Vec<Triple>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

impl QueryRelations {
    pub(crate) fn new(holdings: Holdings) -> Self {
        Self { holdings }
    }
}

impl Tool for QueryRelations {
    type Arguments = QueryArguments;
    type Output = QueryOutput;
    const NAME: &'static str = "graph_query";
    const DESCRIPTION: &'static str = "Finds relations in the knowledge graph that hold now, by \
         subject, predicate or object; at least one of them must be named.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(
        &self,
        given: QueryArguments,
        context: ToolContext,
    ) -> Result<QueryOutput, ToolError> {
        let name = |what, text: &Option<String>| {
            text.as_deref().map(|text| GraphName::new(what, text)).transpose()
        };
        let question = RelationQuery {
            subject: name("subject", &given.subject)?,
            predicate: name("predicate", &given.predicate)?,
            object: name("object", &given.object)?,
            limit: MAX_RELATION_COUNT,
            ..RelationQuery::default()
        };
        let stores = self.holdings.in_space(context.space.own());
        let found = stores.graph().find_relations(&question).await?;
        let note = if found.more {
            Some(format!(
                "there are more than these {MAX_RELATION_COUNT}; name more of the relation"
            ))
        } else if found.triples.is_empty() {
            Some("no such relation is on record".to_owned())
        } else {
            None
        };
        Ok(QueryOutput { triples: found.triples, note })
    }

    fn describe(&self, given: &QueryArguments) -> Option<String> {
        let named = [&given.subject, &given.predicate, &given.object].into_iter().flatten();
        let named = named.filter(|name| !name.trim().is_empty()).map(|name| code_span(name));
        let named: Vec<String> = named.collect();
        (!named.is_empty()).then(|| format!("Looking for relations with {}", named.join(", ")))
    }

    fn report(&self, _: &QueryArguments, found: &QueryOutput) -> Option<CallReport> {
        let QueryOutput { triples, note } = found;
        let report = if triples.is_empty() {
            let note = note.as_deref().unwrap_or("no such relation is on record");
            let note = to_one_line(note, MAX_REMARK_CHARACTERS);
            CallReport::new(format!("Nothing was found: {note}.")).found_nothing()
        } else {
            let lines: Vec<String> = triples.iter().map(render_line).collect();
            let relations = plural(lines.len(), "relation", "relations");
            let report =
                CallReport::new(format!("{relations} on record:")).markdown(lines.join("\n"));
            with_remark(report, note.as_deref())
        };
        Some(report.data(triples))
    }
}

/// Returns one entry of a list: the relation and its source.
fn render_line(triple: &Triple) -> String {
    let relation = render_relation([&triple.subject, &triple.predicate, &triple.object]);
    match triple.provenance.source.as_deref() {
        Some(source) => format!("- {relation} (from {})", to_one_line(source, MAX_NAME_CHARACTERS)),
        None => format!("- {relation}"),
    }
}
