//! Implements `graph_add`, which records a relation.

use lango_protocol::CallReport;
use lango_tool::{Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use lango_retrieval::{EntryKey, EntryKind, Retrieval};

use super::relation::render_relation;
use crate::graph::{AddOutcome, GraphName, NewTriple};
use crate::proposing::propose_keeping;
use crate::reporting::describe_activity;
use crate::{Holdings, LibrarianError, Provenance};

pub(crate) struct AddRelation {
    holdings: Holdings,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct AddArguments {
    /// What it is about, such as a person, a project or a thing.
    subject: String,
    /// How the two relate, as a short verb: "works on", "part of".
    predicate: String,
    /// What it relates to.
    object: String,
    /// What supports it: the name of an ingested document, an address, or the sentence itself.
    source: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct AddOutput {
    outcome: AddOutcome,
    subject: String,
    predicate: String,
    object: String,
}

impl AddRelation {
    pub(crate) fn new(holdings: Holdings) -> Self {
        Self { holdings }
    }
}

impl Tool for AddRelation {
    type Arguments = AddArguments;
    type Output = AddOutput;
    const NAME: &'static str = "graph_add";
    const DESCRIPTION: &'static str =
        "Records a relation between two things in the knowledge graph, with its source.";
    const LEVEL: SafetyLevel = SafetyLevel::Moderate;
    const READ_ONLY: bool = false;

    async fn run(&self, given: AddArguments, context: ToolContext) -> Result<AddOutput, ToolError> {
        let stores = self.holdings.in_space(context.space.own());
        let subject = GraphName::new("subject", &given.subject)?;
        let predicate = GraphName::new("predicate", &given.predicate)?;
        let object = GraphName::new("object", &given.object)?;
        let output = |outcome| AddOutput {
            outcome,
            subject: subject.shown().to_owned(),
            predicate: predicate.shown().to_owned(),
            object: object.shown().to_owned(),
        };
        let mentioned_in = match &given.source {
            Some(source) => find_documents(stores.retrieval(), source).await?,
            None => Vec::new(),
        };
        let triple = NewTriple {
            subject: subject.clone(),
            predicate: predicate.clone(),
            object: object.clone(),
            provenance: Provenance::of_call(&context, given.source),
            valid_from: None,
            mentioned_in,
        };
        Ok(output(stores.graph().record_relation(triple).await?))
    }

    fn propose(&self, given: &AddArguments) -> Option<Proposal> {
        let AddArguments { subject, predicate, object, source } = given;
        let source = source.as_deref().unwrap_or_default();
        Some(propose_keeping("relation", [subject, predicate, object, source]))
    }

    fn describe(&self, given: &AddArguments) -> Option<String> {
        describe_activity("Recording a relation of", &given.subject)
    }

    fn report(&self, _: &AddArguments, output: &AddOutput) -> Option<CallReport> {
        let relation = render_relation([&output.subject, &output.predicate, &output.object]);
        let summary = match output.outcome {
            AddOutcome::Stored => format!("Recorded: {relation}"),
            AddOutcome::AlreadyThere => format!("Already on record: {relation}"),
        };
        Some(CallReport::new(summary).data(output))
    }
}

/// Returns the ingested documents that a source names by their key, with or without a position
/// after it, such as `notes.md, lines 3-9`.
async fn find_documents(
    retrieval: &Retrieval,
    source: &str,
) -> Result<Vec<EntryKey>, LibrarianError> {
    let source = source.trim();
    let end = source.find([',', '#', '(']).unwrap_or(source.len());
    let named = source[..end].trim();
    let mut found = Vec::new();
    for collection in retrieval.list_collections(EntryKind::Documents).await? {
        for key in [source, named] {
            let key = EntryKey::new(EntryKind::Documents, collection.collection.as_str(), key);
            if !found.contains(&key) && retrieval.find_entry_digest(&key).await?.is_some() {
                found.push(key);
            }
        }
    }
    Ok(found)
}
