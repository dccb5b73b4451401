//! Implements `memory_list_reflections`.

use lango_protocol::CallReport;
use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError};
use serde::Serialize;

use super::list_observations::ListArguments;
use super::report::{render_dated_line, report_entries};
use super::resolve_session;
use crate::memory::MemorySystem;
use crate::record::Reflection;

pub(crate) struct ListReflections {
    pub(crate) memory: MemorySystem,
}

/// Represents a reflection as a model reads it.
#[derive(Debug, Serialize)]
pub(crate) struct ReflectionView {
    id: String,
    date: String,
    content: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    about: String,
    generation: u64,
    extractive: bool,
    observations: Vec<String>,
}

impl From<Reflection> for ReflectionView {
    fn from(reflection: Reflection) -> Self {
        Self {
            id: reflection.id,
            date: reflection.created_at.day(),
            content: reflection.content,
            about: reflection.about,
            generation: reflection.generation,
            extractive: reflection.extractive,
            observations: reflection.sources,
        }
    }
}

impl ReflectionView {
    /// Returns one entry of a list, for a person.
    fn render_line(&self) -> String {
        render_dated_line(&self.date, &self.content)
    }

    /// Reports one reflection: its day, and its words.
    pub(super) fn report(&self) -> CallReport {
        CallReport::new(format!("In short ({}):", self.date)).quoted(self.content.as_str())
    }
}

impl Tool for ListReflections {
    type Arguments = ListArguments;
    type Output = Vec<ReflectionView>;
    const NAME: &'static str = "memory_list_reflections";
    const DESCRIPTION: &'static str =
        "Lists the reflections on a conversation, with the observations they come from.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(
        &self,
        arguments: ListArguments,
        context: ToolContext,
    ) -> Result<Vec<ReflectionView>, ToolError> {
        let session = resolve_session(arguments.session.as_deref(), &context)?;
        let limit = arguments.limit.clamp(1, 200);
        let memory = self.memory.in_space(context.space.own());
        let reflections = memory.list_reflections(Some(&session), limit).await?;
        Ok(reflections.into_iter().map(ReflectionView::from).collect())
    }

    fn describe(&self, _: &ListArguments) -> Option<String> {
        Some("Listing the reflections".to_owned())
    }

    fn report(&self, _: &ListArguments, output: &Vec<ReflectionView>) -> Option<CallReport> {
        let lines: Vec<String> = output.iter().map(ReflectionView::render_line).collect();
        Some(report_entries(&lines, "reflection", "reflections").data(output))
    }
}
