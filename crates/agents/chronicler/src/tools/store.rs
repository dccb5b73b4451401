//! Implements `memory_store`, which stores what the user wants remembered.

use lango_protocol::{CallReport, EventBody, Timestamp};
use lango_text::{code_span, plural, to_one_line};
use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::report::MAX_CONTENT_CHARACTERS;
use crate::ChroniclerError;
use crate::memory::MemorySystem;
use crate::record::{MemoryKind, MemoryOrigin};
use crate::remember::{MemoryCandidate, source_of_event};

pub(crate) struct StoreMemory {
    pub(crate) memory: MemorySystem,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoreArguments {
    /// One fact in one sentence, in the user's words, which makes sense later.
    content: String,
    /// What it is.
    #[serde(default = "default_kind")]
    kind: MemoryKind,
    /// What or whom it is about, in a few words.
    #[serde(default)]
    about: Option<String>,
}

/// Limits the earlier memories that a report names.
const MAX_NAMED_COUNT: usize = 5;

fn default_kind() -> MemoryKind {
    MemoryKind::Fact
}

#[derive(Debug, Serialize)]
pub(crate) struct StoreOutput {
    id: String,
    content: String,
    /// Memories that it supersedes.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    instead_of: Vec<String>,
}

impl Tool for StoreMemory {
    type Arguments = StoreArguments;
    type Output = StoreOutput;
    const NAME: &'static str = "memory_store";
    const DESCRIPTION: &'static str = "Remembers something that the user said about themselves, their work or their \
         wishes, for all later conversations. Takes the place of an earlier memory that it \
         contradicts. Refuses what the user did not say.";
    const LEVEL: SafetyLevel = SafetyLevel::Moderate;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: StoreArguments,
        context: ToolContext,
    ) -> Result<StoreOutput, ToolError> {
        let memory = self.memory.in_space(context.space.own());
        let journal = &memory.stores().journal;
        let events = journal
            .read_turn_events(&context.session, context.turn)
            .await
            .map_err(ChroniclerError::from)?;
        let user_message =
            events.iter().find(|event| matches!(event.body, EventBody::UserMessage { .. }));
        let candidate = MemoryCandidate {
            kind: arguments.kind,
            content: arguments.content,
            about: arguments.about.unwrap_or_default(),
            origin: MemoryOrigin::Stored,
            at: user_message.map_or_else(Timestamp::now, |event| event.at),
            session: Some(context.session.clone()),
            turn: Some(context.turn),
            sources: user_message.map(source_of_event).into_iter().collect(),
        };
        let admitted = memory.store_if_said(candidate, &context.session).await?;
        Ok(StoreOutput {
            id: admitted.memory.id,
            content: admitted.memory.content,
            instead_of: admitted.instead_of,
        })
    }

    fn describe(&self, _: &StoreArguments) -> Option<String> {
        Some("Remembering this".to_owned())
    }

    fn report(&self, _: &StoreArguments, stored: &StoreOutput) -> Option<CallReport> {
        let StoreOutput { content, instead_of, .. } = stored;
        let content = to_one_line(content, MAX_CONTENT_CHARACTERS);
        let report = CallReport::new(format!("I'll remember: {content}")).data(stored);
        if instead_of.is_empty() {
            return Some(report);
        }
        let ids = instead_of.iter().take(MAX_NAMED_COUNT).map(|id| code_span(id));
        let ids = ids.collect::<Vec<_>>().join(", ");
        let memories = plural(instead_of.len(), "earlier memory", "earlier memories");
        Some(report.note(format!("It takes the place of {memories}: {ids}")))
    }
}
