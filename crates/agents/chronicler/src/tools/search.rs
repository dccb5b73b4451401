//! Implements `memory_search`, which finds memories by words and meaning.

use lango_protocol::{CallReport, OwnerStore};
use lango_text::{code_span, plural};
use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::report::render_dated_line;
use crate::memory::MemorySystem;
use crate::record::StoredMemory;

pub(crate) struct SearchMemories {
    pub(crate) memory: MemorySystem,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchArguments {
    /// What to look for.
    query: String,
    /// At most so many memories.
    #[serde(default = "default_limit")]
    limit: u32,
}

fn default_limit() -> u32 {
    10
}

#[derive(Debug, Serialize)]
pub(crate) struct MemoryHit {
    id: String,
    kind: &'static str,
    content: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    about: String,
    score: f64,
    date: String,
    from: &'static str,
    /// Whose memory it is, if it is of another space than the turn's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    owner: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    session: Option<String>,
}

impl MemoryHit {
    pub(super) fn new(memory: StoredMemory, score: f64) -> Self {
        Self {
            id: memory.id,
            kind: memory.kind.as_str(),
            content: memory.content,
            about: memory.about,
            score: (score * 10_000.0).round() / 10_000.0,
            date: memory.at.day(),
            from: memory.origin.in_words(),
            owner: None,
            session: memory.session.map(String::from),
        }
    }

    /// Returns one entry of a list, for a person.
    fn render_line(&self) -> String {
        let line = render_dated_line(&self.date, &self.content);
        match &self.owner {
            Some(owner) => format!("{line} (from {owner})"),
            None => line,
        }
    }

    /// Returns one entry of a list from which a person chooses.
    pub(super) fn render_line_with_id(&self) -> String {
        format!("{} ({})", self.render_line(), code_span(&self.id))
    }
}

impl Tool for SearchMemories {
    type Arguments = SearchArguments;
    type Output = Vec<MemoryHit>;
    const NAME: &'static str = "memory_search";
    const DESCRIPTION: &'static str = "Finds memories of the user across all conversations, with score, date and origin. \
         The best come first; low scores may have nothing to do with the query.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(
        &self,
        arguments: SearchArguments,
        context: ToolContext,
    ) -> Result<Vec<MemoryHit>, ToolError> {
        let limit = usize::try_from(arguments.limit.clamp(1, 50)).unwrap_or(50);
        let mut hits = Vec::new();
        for space in context.space.readable(OwnerStore::Memories) {
            let memory = self.memory.in_space(&space);
            let owner = context.space.origin_of(&space);
            for (memory, score) in memory.search_memories(&arguments.query, limit).await? {
                hits.push(MemoryHit { owner: owner.clone(), ..MemoryHit::new(memory, score) });
            }
        }
        hits.truncate(limit);
        Ok(hits)
    }

    fn render(&self, output: &Vec<MemoryHit>) -> String {
        if output.is_empty() {
            return "There is no memory of this.".to_owned();
        }
        serde_json::to_string(output).unwrap_or_else(|error| format!("(unprintable: {error})"))
    }

    fn describe(&self, arguments: &SearchArguments) -> Option<String> {
        let query = arguments.query.trim();
        (!query.is_empty()).then(|| format!("Searching the memories for {}", code_span(query)))
    }

    fn report(&self, arguments: &SearchArguments, output: &Vec<MemoryHit>) -> Option<CallReport> {
        let query = code_span(&arguments.query);
        let report = if output.is_empty() {
            CallReport::new(format!("There is no memory of {query}.")).found_nothing()
        } else {
            let number = plural(output.len(), "memory", "memories");
            let lines: Vec<String> = output.iter().map(MemoryHit::render_line).collect();
            // The last ones may have little to do with the query.
            CallReport::new(format!("{number} that may fit {query}, the best first:"))
                .markdown(lines.join("\n"))
        };
        Some(report.data(output))
    }
}
