//! Implements `observe_event`, which writes an observation of this conversation now.

use lango_protocol::{CallReport, EventBody, Timestamp};
use lango_store::Batch;
use lango_text::{code_span, to_one_line};
use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::report::{MAX_CONTENT_CHARACTERS, MAX_DATE_CHARACTERS};
use crate::conversation::parse_time;
use crate::memory::MemorySystem;
use crate::record::{Observation, Priority, generate_id};
use crate::remember::source_of_event;
use crate::{ChroniclerError, gate};

pub(crate) struct ObserveEvent {
    pub(crate) memory: MemorySystem,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ObserveArguments {
    /// What happened, in one sentence, as the user said it.
    content: String,
    /// The day it is about, such as 2026-11-15; today if absent.
    #[serde(default)]
    at: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct ObserveEventOutput {
    id: String,
}

impl Tool for ObserveEvent {
    type Arguments = ObserveArguments;
    type Output = ObserveEventOutput;
    const NAME: &'static str = "observe_event";
    const DESCRIPTION: &'static str = "Writes down something that happened, with its date, as an observation of this \
         conversation. Refuses what the user did not say.";
    const LEVEL: SafetyLevel = SafetyLevel::Moderate;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: ObserveArguments,
        context: ToolContext,
    ) -> Result<ObserveEventOutput, ToolError> {
        let at = match arguments.at.as_deref() {
            Some(given) => parse_time(given).map_err(ToolError::Arguments)?,
            None => Timestamp::now(),
        };
        let memory = self.memory.in_space(context.space.own());
        let stores = memory.stores();
        let stated = gate::check_statement(&arguments.content).map_err(ChroniclerError::from)?;
        let known = stores.collect_evidence(&context.session).await?;
        known.check_support(&stated).map_err(ChroniclerError::from)?;
        let events = stores
            .journal
            .read_turn_events(&context.session, context.turn)
            .await
            .map_err(ChroniclerError::from)?;
        let user_messages =
            events.iter().filter(|event| matches!(event.body, EventBody::UserMessage { .. }));
        let written = Observation {
            id: generate_id('o'),
            session: context.session.clone(),
            content: stated,
            priority: Priority::High,
            at,
            created_at: Timestamp::now(),
            extractive: false,
            // Written on request: it is part of no run of the observer.
            range: (0, 0),
            sources: user_messages.map(source_of_event).collect(),
            condensed_by: None,
        };
        let mut batch = Batch::new();
        stores
            .build_observation_insertion(&written)
            .await?
            .into_iter()
            .for_each(|statement| batch.push(statement));
        stores.database.write(batch).await.map_err(ChroniclerError::from)?;
        Ok(ObserveEventOutput { id: written.id })
    }

    fn describe(&self, _: &ObserveArguments) -> Option<String> {
        Some("Writing this down".to_owned())
    }

    fn report(
        &self,
        arguments: &ObserveArguments,
        observed: &ObserveEventOutput,
    ) -> Option<CallReport> {
        let id = code_span(&observed.id);
        let content = to_one_line(&arguments.content, MAX_CONTENT_CHARACTERS);
        let summary = match arguments.at.as_deref() {
            Some(at) => {
                let at = to_one_line(at, MAX_DATE_CHARACTERS);
                format!("Written down for {at}, as {id}: {content}")
            }
            None => format!("Written down, as {id}: {content}"),
        };
        Some(CallReport::new(summary).data(observed))
    }
}
