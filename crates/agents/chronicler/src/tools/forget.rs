//! Implements `memory_forget`, which removes a memory for good.

use lango_protocol::CallReport;
use lango_text::{code_span, make_visible, plural, word_coverage};
use lango_tool::{Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::search::MemoryHit;
use crate::memory::{Memory, MemorySystem};
use crate::record::StoredMemory;
use crate::text::significant_words;

pub(crate) struct Forget {
    pub(crate) memory: MemorySystem,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ForgetArguments {
    /// The memory's id, such as `m_3f2k9p`.
    #[serde(default)]
    id: Option<String>,
    /// What it says, where the id is not known. Nothing is forgotten if several memories fit.
    #[serde(default)]
    query: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum ForgetOutput {
    Forgotten {
        forgotten: String,
        kind: &'static str,
        date: String,
        memories: usize,
        notes: usize,
        places_in_conversations: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        remark: Option<&'static str>,
    },
    Several {
        nothing_was_forgotten: &'static str,
        memories: Vec<MemoryHit>,
    },
}

/// Sets how much of a query a memory must contain.
const MIN_QUERY_COVERAGE: f64 = 0.5;

impl Forget {
    /// Returns the memories that a query can mean, the best first.
    async fn find_matching(
        memory: &Memory,
        query: &str,
    ) -> Result<Vec<(StoredMemory, f64)>, ToolError> {
        let wanted = significant_words(query);
        let mut found = memory.search_memories(query, 20).await?;
        let share = |memory: &StoredMemory| {
            let words = significant_words(&format!("{} {}", memory.content, memory.about));
            word_coverage(&wanted, &words).max(word_coverage(&words, &wanted))
        };
        found.retain(|(memory, _)| share(memory) >= MIN_QUERY_COVERAGE);
        // A memory that says exactly this is meant, even if others are similar.
        let exact: Vec<(StoredMemory, f64)> = found
            .iter()
            .filter(|(memory, _)| significant_words(&memory.content) == wanted)
            .cloned()
            .collect();
        Ok(if exact.len() == 1 { exact } else { found })
    }
}

impl Tool for Forget {
    type Arguments = ForgetArguments;
    type Output = ForgetOutput;
    const NAME: &'static str = "memory_forget";
    const DESCRIPTION: &'static str = "Forgets a memory for good: it goes from memory, from the index, and its words from \
         past conversations. Takes an id, or a query that fits one memory only; otherwise the \
         memories that fit are listed and nothing is forgotten.";
    const LEVEL: SafetyLevel = SafetyLevel::Dangerous;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: ForgetArguments,
        context: ToolContext,
    ) -> Result<ForgetOutput, ToolError> {
        let memory = self.memory.in_space(context.space.own());
        let id = match (arguments.id, arguments.query) {
            (Some(id), None) => id.trim().to_owned(),
            (None, Some(query)) => {
                let mut matching = Self::find_matching(&memory, &query).await?;
                match matching.len() {
                    0 => return Err(ToolError::Failed("there is no memory of this".to_owned())),
                    1 => matching.remove(0).0.id,
                    _ => {
                        let found = matching.into_iter();
                        return Ok(ForgetOutput::Several {
                            nothing_was_forgotten: "several memories fit; ask the user which, and call again with its id",
                            memories: found.map(|(m, score)| MemoryHit::new(m, score)).collect(),
                        });
                    }
                }
            }
            _ => return Err(ToolError::Arguments("give either id or query".to_owned())),
        };
        let done = memory.forget_memory(&id).await?;
        Ok(ForgetOutput::Forgotten {
            forgotten: done.memory.id,
            kind: done.memory.kind.as_str(),
            date: done.memory.at.day(),
            memories: done.memories,
            notes: done.derived,
            places_in_conversations: done.places,
            remark: done.pending.then_some(
                "its words go from this conversation when this turn ends; do not repeat them",
            ),
        })
    }

    fn propose(&self, arguments: &ForgetArguments) -> Option<Proposal> {
        let subject = arguments.id.as_deref().or(arguments.query.as_deref()).unwrap_or_default();
        let what = match &arguments.id {
            Some(id) => format!("the memory {}", make_visible(&code_span(id))),
            None => format!("the memory that says {}", make_visible(&code_span(subject))),
        };
        let summary = format!(
            "Forget {what} for good.\nIts words are removed from memory, from the index, and from \
             the messages and results of all past conversations, in which the places stay marked."
        );
        // Each time it is another memory that is lost.
        let always_ask = Some("what is forgotten cannot be restored".to_owned());
        Some(Proposal { always_ask, ..Proposal::of(summary, [subject]) })
    }

    /// Does not repeat the words to forget.
    fn describe(&self, _: &ForgetArguments) -> Option<String> {
        Some("Forgetting this".to_owned())
    }

    /// Does not repeat the forgotten words.
    fn report(&self, _: &ForgetArguments, outcome: &ForgetOutput) -> Option<CallReport> {
        let report = match outcome {
            ForgetOutput::Forgotten { forgotten, kind, date, places_in_conversations, .. } => {
                let id = code_span(forgotten);
                let places = match usize::try_from(*places_in_conversations).unwrap_or(usize::MAX) {
                    0 => String::new(),
                    places => {
                        let places = plural(places, "place", "places");
                        format!(" It was also removed from {places} in conversations.")
                    }
                };
                CallReport::new(format!("Forgotten: the memory {id} ({kind}, {date}).{places}"))
            }
            ForgetOutput::Several { memories, .. } => {
                let number = memories.len();
                let lines: Vec<String> =
                    memories.iter().map(MemoryHit::render_line_with_id).collect();
                CallReport::new(format!("Nothing was forgotten: {number} memories fit. Which one?"))
                    .markdown(lines.join("\n"))
                    .unsuccessful()
            }
        };
        Some(report.data(outcome))
    }
}
