//! Implements `memory_list_observations`.

use lango_protocol::CallReport;
use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::report::{render_dated_line, report_entries};
use super::resolve_session;
use crate::memory::MemorySystem;
use crate::record::Observation;

pub(crate) struct ListObservations {
    pub(crate) memory: MemorySystem,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ListArguments {
    /// The conversation; the present one if absent.
    #[serde(default)]
    pub(super) session: Option<String>,
    /// At most so many, the latest first.
    #[serde(default = "default_limit")]
    pub(super) limit: u32,
}

fn default_limit() -> u32 {
    20
}

/// Represents an observation as a model reads it.
#[derive(Debug, Serialize)]
pub(crate) struct ObservationView {
    id: String,
    date: String,
    priority: &'static str,
    content: String,
    extractive: bool,
    /// The positions of the messages it comes from, in the conversation's journal.
    messages: Vec<u64>,
}

impl From<Observation> for ObservationView {
    fn from(observation: Observation) -> Self {
        Self {
            id: observation.id,
            date: observation.at.day(),
            priority: observation.priority.as_str(),
            content: observation.content,
            extractive: observation.extractive,
            messages: observation.sources.iter().map(|source| source.seq).collect(),
        }
    }
}

impl ObservationView {
    /// Returns one entry of a list, for a person.
    pub(super) fn render_line(&self) -> String {
        render_dated_line(&self.date, &self.content)
    }
}

impl Tool for ListObservations {
    type Arguments = ListArguments;
    type Output = Vec<ObservationView>;
    const NAME: &'static str = "memory_list_observations";
    const DESCRIPTION: &'static str = "Lists what was observed in a conversation, with date, priority and the messages it comes from.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(
        &self,
        arguments: ListArguments,
        context: ToolContext,
    ) -> Result<Vec<ObservationView>, ToolError> {
        let session = resolve_session(arguments.session.as_deref(), &context)?;
        let limit = arguments.limit.clamp(1, 200);
        let memory = self.memory.in_space(context.space.own());
        let observations = memory.list_observations(Some(&session), limit).await?;
        Ok(observations.into_iter().map(ObservationView::from).collect())
    }

    fn describe(&self, _: &ListArguments) -> Option<String> {
        Some("Listing the observations".to_owned())
    }

    fn report(&self, _: &ListArguments, output: &Vec<ObservationView>) -> Option<CallReport> {
        let lines: Vec<String> = output.iter().map(ObservationView::render_line).collect();
        Some(report_entries(&lines, "observation", "observations").data(output))
    }
}
