//! Knowledge as tools.

use lango_protocol::CallReport;
use lango_text::{code_span, one_line};
use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{Category, KnowledgeHit, KnowledgeHits, NewKnowledge, Saved, SavedOutcome};
use crate::reporting::{
    MAX_ENTRY_CHARACTERS, MAX_NAME_CHARACTERS, MAX_REMARK_CHARACTERS, activity, day, found_entries,
};
use crate::text::checked;
use crate::{Holdings, Provenance};

/// Hits in one result.
const MOST_HITS: u32 = 50;
/// Characters of the longest query.
const LONGEST_QUERY: usize = 2_000;

/// `save_knowledge`.
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
    category: Category,
    /// Words to find it by.
    #[serde(default)]
    tags: Vec<String>,
}

impl Tool for SaveKnowledge {
    type Arguments = SaveArguments;
    type Output = Saved;
    const NAME: &'static str = "save_knowledge";
    const DESCRIPTION: &'static str = "Saves knowledge under a key. A key that is taken gets a new \
         version; the old ones are kept, and the result says what was replaced.";
    const LEVEL: SafetyLevel = SafetyLevel::Moderate;
    const READ_ONLY: bool = false;

    async fn run(&self, given: SaveArguments, context: ToolContext) -> Result<Saved, ToolError> {
        let new = NewKnowledge {
            key: given.key,
            content: given.content,
            category: given.category,
            tags: given.tags,
            provenance: Provenance::of_call(&context, None),
            confidence: None,
        };
        Ok(self.0.knowledge().save(new).await?)
    }

    fn describe(&self, given: &SaveArguments) -> Option<String> {
        activity("Saving knowledge under", &given.key)
    }

    fn report(&self, _: &SaveArguments, saved: &Saved) -> Option<CallReport> {
        Some(saved_report(saved).data(saved))
    }
}

/// Reports what became of knowledge that was to be saved.
pub(crate) fn saved_report(saved: &Saved) -> CallReport {
    let (key, version) = (code_span(&saved.key), saved.version);
    let report = CallReport::new(match saved.outcome {
        SavedOutcome::Stored => format!("Saved under {key}."),
        SavedOutcome::NewVersion => format!("Saved under {key}, as version {version}."),
        SavedOutcome::Unchanged => format!("{key} said the same already; nothing was changed."),
    });
    match &saved.replaced {
        Some(replaced) => {
            let content = one_line(&replaced.content, MAX_REMARK_CHARACTERS);
            report.note(format!("The previous version said: {content}"))
        }
        None => report,
    }
}

/// `search_knowledge`.
pub(crate) struct SearchKnowledge(pub(crate) Holdings);

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchArguments {
    /// What is looked for, as a question or in words.
    query: String,
    /// Only knowledge of this kind.
    category: Option<Category>,
    /// How many hits at most.
    #[serde(default = "default_limit")]
    limit: u32,
}

fn default_limit() -> u32 {
    10
}

/// A number of hits that can be asked for.
pub(crate) fn hits(limit: u32) -> Result<usize, ToolError> {
    if !(1..=MOST_HITS).contains(&limit) {
        return Err(ToolError::Arguments(format!("limit must be from 1 to {MOST_HITS}")));
    }
    Ok(usize::try_from(limit).unwrap_or(1))
}

/// A query that can be asked.
pub(crate) fn query(text: &str) -> Result<String, ToolError> {
    Ok(checked("query", text, LONGEST_QUERY)?)
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
        _: ToolContext,
    ) -> Result<KnowledgeHits, ToolError> {
        let query = query(&given.query)?;
        let limit = hits(given.limit)?;
        Ok(self.0.knowledge().search(&query, given.category, limit).await?)
    }

    fn describe(&self, given: &SearchArguments) -> Option<String> {
        activity("Looking for knowledge about", &given.query)
    }

    fn report(&self, given: &SearchArguments, found: &KnowledgeHits) -> Option<CallReport> {
        let lines: Vec<String> = found.hits.iter().map(line).collect();
        Some(found_entries(&given.query, &lines, found.note.as_deref()).data(&found.hits))
    }
}

/// Returns one entry of a list: what is known, since when, from whom and from what.
fn line(hit: &KnowledgeHit) -> String {
    let key = one_line(&hit.key, MAX_NAME_CHARACTERS);
    let text = one_line(&hit.text, MAX_ENTRY_CHARACTERS);
    let by = one_line(&hit.by, MAX_NAME_CHARACTERS);
    let source = hit.source.as_deref().map(|source| one_line(source, MAX_NAME_CHARACTERS));
    let source = source.map_or_else(String::new, |source| format!(", from {source}"));
    format!("- {key}: {text} ({}, by {by}{source})", day(hit.recorded_at))
}
