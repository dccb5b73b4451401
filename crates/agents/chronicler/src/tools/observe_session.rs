//! Implements `observe_session`, which observes a conversation now.

use lango_protocol::CallReport;
use lango_text::plural;
use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::list_observations::ObservationView;
use super::{check_session, resolve_session};
use crate::chronicler::Chronicler;
use crate::memory::MemorySystem;

pub(crate) struct ObserveSession {
    pub(crate) memory: MemorySystem,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SessionArguments {
    /// The conversation; the present one if absent.
    #[serde(default)]
    session: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ObserveSessionOutput {
    observations: Vec<ObservationView>,
    new_memories: usize,
}

impl Tool for ObserveSession {
    type Arguments = SessionArguments;
    type Output = ObserveSessionOutput;
    const NAME: &'static str = "observe_session";
    const DESCRIPTION: &'static str = "Observes a conversation now, up to the last turn that has ended, and returns the new \
         observations.";
    const LEVEL: SafetyLevel = SafetyLevel::Moderate;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: SessionArguments,
        context: ToolContext,
    ) -> Result<ObserveSessionOutput, ToolError> {
        let session = resolve_session(arguments.session.as_deref(), &context)?;
        check_session(&self.memory, &session, &context).await?;
        let chronicler = Chronicler::new(self.memory.clone());
        let report = chronicler.observe_now(&session, &context.cancel).await?;
        if context.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        Ok(ObserveSessionOutput {
            observations: report.observations.into_iter().map(ObservationView::from).collect(),
            new_memories: report.memories,
        })
    }

    fn describe(&self, _: &SessionArguments) -> Option<String> {
        Some("Observing the conversation".to_owned())
    }

    fn report(&self, _: &SessionArguments, output: &ObserveSessionOutput) -> Option<CallReport> {
        let memories = plural(output.new_memories, "new memory", "new memories");
        let lines: Vec<String> =
            output.observations.iter().map(ObservationView::render_line).collect();
        let report = if lines.is_empty() {
            CallReport::new(format!("There was nothing new to observe; {memories}."))
        } else {
            let number = plural(lines.len(), "new observation", "new observations");
            CallReport::new(format!("{number}, {memories}:")).markdown(lines.join("\n"))
        };
        Some(report.data(output))
    }
}
