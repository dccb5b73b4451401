//! Defines the tools for knowledge.

use lango_protocol::{CallReport, OwnerStore};
use lango_text::{code_span, to_one_line};
use lango_tool::{Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    KnowledgeCategory, KnowledgeHit, KnowledgeHits, NewKnowledge, SaveOutcome, SavedKnowledge,
};
use crate::proposing::propose_keeping;
use crate::reporting::{
    MAX_ENTRY_CHARACTERS, MAX_NAME_CHARACTERS, MAX_REMARK_CHARACTERS, describe_activity,
    report_found_entries,
};
use crate::text::check_text;
use crate::{Holdings, Provenance};

/// Limits the hits in one result.
const MAX_HIT_COUNT: u32 = 50;
/// Limits the query.
const MAX_QUERY_CHARACTERS: usize = 2_000;

/// Implements `save_knowledge`.
pub(crate) struct SaveKnowledge(pub(crate) Holdings);

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SaveArguments {
    /// A short name to keep it under, such as "project build command".
    key: String,
    /// The knowledge, in full sentences.
    content: String,
    /// What kind of knowledge it is.
    #[serde(default)]
    category: KnowledgeCategory,
    /// Words to find it by.
    #[serde(default)]
    tags: Vec<String>,
}

impl Tool for SaveKnowledge {
    type Arguments = SaveArguments;
    type Output = SavedKnowledge;
    const NAME: &'static str = "save_knowledge";
    const DESCRIPTION: &'static str = "Saves knowledge under a key. A key that is taken gets a new \
         version; the old ones are kept, and the result says what was replaced.";
    const LEVEL: SafetyLevel = SafetyLevel::Moderate;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        given: SaveArguments,
        context: ToolContext,
    ) -> Result<SavedKnowledge, ToolError> {
        let new = NewKnowledge {
            key: given.key,
            content: given.content,
            category: given.category,
            tags: given.tags,
            provenance: Provenance::of_call(&context, None),
            confidence: None,
        };
        Ok(self.0.in_space(context.space.own()).knowledge().save(new).await?)
    }

    fn propose(&self, given: &SaveArguments) -> Option<Proposal> {
        let tags = given.tags.join(" ");
        Some(propose_keeping("knowledge", [&given.key, &given.content, &tags]))
    }

    fn describe(&self, given: &SaveArguments) -> Option<String> {
        describe_activity("Saving knowledge under", &given.key)
    }

    fn report(&self, _: &SaveArguments, saved: &SavedKnowledge) -> Option<CallReport> {
        Some(report_saved(saved).data(saved))
    }
}

/// Reports the result of saving knowledge.
pub(crate) fn report_saved(saved: &SavedKnowledge) -> CallReport {
    let (key, version) = (code_span(&saved.key), saved.version);
    let report = CallReport::new(match saved.outcome {
        SaveOutcome::Stored => format!("Saved under {key}."),
        SaveOutcome::NewVersion => format!("Saved under {key}, as version {version}."),
        SaveOutcome::Unchanged => format!("{key} said the same already; nothing was changed."),
    });
    match &saved.replaced {
        Some(replaced) => {
            let content = to_one_line(&replaced.content, MAX_REMARK_CHARACTERS);
            report.note(format!("The previous version said: {content}"))
        }
        None => report,
    }
}

/// Implements `search_knowledge`.
pub(crate) struct SearchKnowledge(pub(crate) Holdings);

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchArguments {
    /// What is looked for, as a question or in words.
    query: String,
    /// Only knowledge of this kind.
    category: Option<KnowledgeCategory>,
    /// How many hits at most.
    #[serde(default = "default_limit")]
    limit: u32,
}

fn default_limit() -> u32 {
    10
}

/// Checks the number of hits.
pub(crate) fn check_limit(limit: u32) -> Result<usize, ToolError> {
    if !(1..=MAX_HIT_COUNT).contains(&limit) {
        return Err(ToolError::Arguments(format!("limit must be from 1 to {MAX_HIT_COUNT}")));
    }
    Ok(usize::try_from(limit).unwrap_or(1))
}

/// Checks a query.
pub(crate) fn check_query(text: &str) -> Result<String, ToolError> {
    Ok(check_text("query", text, MAX_QUERY_CHARACTERS)?)
}

impl Tool for SearchKnowledge {
    type Arguments = SearchArguments;
    type Output = KnowledgeHits;
    const NAME: &'static str = "search_knowledge";
    const DESCRIPTION: &'static str =
        "Finds saved knowledge by words and meaning, with who wrote it, when, and from what.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(
        &self,
        given: SearchArguments,
        context: ToolContext,
    ) -> Result<KnowledgeHits, ToolError> {
        let query = check_query(&given.query)?;
        let limit = check_limit(given.limit)?;
        let mut found = KnowledgeHits::default();
        for space in context.space.readable(OwnerStore::Knowledge) {
            let stores = self.0.in_space(&space);
            let next = stores.knowledge().search(&query, given.category, limit).await?;
            let from = context.space.origin_of(&space);
            found.add(next, from.as_deref());
        }
        found.hits.truncate(limit);
        Ok(found)
    }

    fn describe(&self, given: &SearchArguments) -> Option<String> {
        describe_activity("Looking for knowledge about", &given.query)
    }

    fn report(&self, given: &SearchArguments, found: &KnowledgeHits) -> Option<CallReport> {
        let lines: Vec<String> = found.hits.iter().map(render_line).collect();
        Some(report_found_entries(&given.query, &lines, found.note.as_deref()).data(&found.hits))
    }
}

/// Returns one entry of a list: the knowledge, its date, author and source.
fn render_line(hit: &KnowledgeHit) -> String {
    let key = to_one_line(&hit.key, MAX_NAME_CHARACTERS);
    let text = to_one_line(&hit.text, MAX_ENTRY_CHARACTERS);
    let by = to_one_line(&hit.by, MAX_NAME_CHARACTERS);
    let source = hit.source.as_deref().map(|source| to_one_line(source, MAX_NAME_CHARACTERS));
    let source = source.map_or_else(String::new, |source| format!(", from {source}"));
    let from = hit.from.as_deref().map_or_else(String::new, |from| format!(", from {from}"));
    format!("- {key}: {text} ({}, by {by}{source}{from})", hit.recorded_at.day())
}
