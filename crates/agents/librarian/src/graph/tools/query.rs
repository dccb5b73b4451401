//! `graph_query`: which relations are on record.

use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Holdings;
use crate::graph::{Name, Question, Triple};

/// Relations in one result.
const MOST: u32 = 100;

pub(crate) struct QueryRelations {
    holdings: Holdings,
}

#[derive(Debug, Deserialize, JsonSchema)]
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

    async fn run(&self, given: QueryArguments, _: ToolContext) -> Result<QueryOutput, ToolError> {
        let name = |what, text: &Option<String>| {
            text.as_deref().map(|text| Name::new(what, text)).transpose()
        };
        let question = Question {
            subject: name("subject", &given.subject)?,
            predicate: name("predicate", &given.predicate)?,
            object: name("object", &given.object)?,
            limit: MOST,
            ..Question::default()
        };
        let found = self.holdings.graph().query(&question).await?;
        let note = if found.more {
            Some(format!("there are more than these {MOST}; name more of the relation"))
        } else if found.triples.is_empty() {
            Some("no such relation is on record".to_owned())
        } else {
            None
        };
        Ok(QueryOutput { triples: found.triples, note })
    }
}
