//! Implements `reflect_summary`, which sums up a conversation.

use lango_protocol::CallReport;
use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::list_reflections::ReflectionView;
use super::{check_session, resolve_session};
use crate::chronicler::Chronicler;
use crate::memory::MemorySystem;

pub(crate) struct ReflectSummary {
    pub(crate) memory: MemorySystem,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReflectArguments {
    /// The conversation; the present one if absent.
    #[serde(default)]
    session: Option<String>,
    /// Only what has to do with this.
    #[serde(default)]
    about: Option<String>,
}

impl Tool for ReflectSummary {
    type Arguments = ReflectArguments;
    type Output = ReflectionView;
    const NAME: &'static str = "reflect_summary";
    const DESCRIPTION: &'static str =
        "Sums up what was observed in a conversation, as a reflection that is kept.";
    const LEVEL: SafetyLevel = SafetyLevel::Moderate;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: ReflectArguments,
        context: ToolContext,
    ) -> Result<ReflectionView, ToolError> {
        let session = resolve_session(arguments.session.as_deref(), &context)?;
        check_session(&self.memory, &session, &context).await?;
        let chronicler = Chronicler::new(self.memory.clone());
        chronicler.observe_now(&session, &context.cancel).await?;
        let about = arguments.about.unwrap_or_default();
        let made = chronicler.reflect_now(&session, about.trim(), &context.cancel).await?;
        if let Some(reflection) = made {
            return Ok(reflection.into());
        }
        if context.cancel.is_cancelled() {
            return Err(ToolError::Cancelled);
        }
        // There is nothing new since the last one.
        let memory = self.memory.in_space(context.space.own());
        let latest =
            memory.read_latest_reflection(&session).await?.filter(|_| about.trim().is_empty());
        latest.map(ReflectionView::from).ok_or_else(|| {
            ToolError::Failed(
                "nothing was observed in this conversation that could be summed up".to_owned(),
            )
        })
    }

    fn describe(&self, _: &ReflectArguments) -> Option<String> {
        Some("Summing up the conversation".to_owned())
    }

    fn report(&self, _: &ReflectArguments, reflection: &ReflectionView) -> Option<CallReport> {
        Some(reflection.report().data(reflection))
    }
}
