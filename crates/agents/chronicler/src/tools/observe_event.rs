//! `observe_event`: something of this conversation, written down now.

use lango_protocol::{CallReport, EventBody, Timestamp};
use lango_store::Batch;
use lango_text::{code_span, one_line};
use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::report::{MAX_CONTENT_CHARACTERS, MAX_DATE_CHARACTERS};
use crate::heard::time;
use crate::memory::Memory;
use crate::record::{Observation, Priority, fresh_id};
use crate::remember::source;
use crate::{ChroniclerError, gate};

pub(crate) struct ObserveEvent {
    pub(crate) memory: Memory,
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
pub(crate) struct Observed {
    id: String,
}

impl Tool for ObserveEvent {
    type Arguments = ObserveArguments;
    type Output = Observed;
    const NAME: &'static str = "observe_event";
    const DESCRIPTION: &'static str = "Writes down something that happened, with its date, as an observation of this \
         conversation. Refuses what the user did not say.";
    const LEVEL: SafetyLevel = SafetyLevel::Moderate;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: ObserveArguments,
        context: ToolContext,
    ) -> Result<Observed, ToolError> {
        let at = match arguments.at.as_deref() {
            Some(given) => time(given).map_err(ToolError::Arguments)?,
            None => Timestamp::now(),
        };
        let opened = self.memory.stores();
        let stated = gate::statement(&arguments.content).map_err(ChroniclerError::from)?;
        let known = opened.evidence(&context.session).await?;
        known.supports(&stated).map_err(ChroniclerError::from)?;
        let events = opened
            .journal
            .turn_events(&context.session, context.turn)
            .await
            .map_err(ChroniclerError::from)?;
        let said =
            events.iter().filter(|event| matches!(event.body, EventBody::UserMessage { .. }));
        let written = Observation {
            id: fresh_id('o'),
            session: context.session.clone(),
            content: stated,
            priority: Priority::High,
            at,
            created_at: Timestamp::now(),
            extractive: false,
            // Written by hand: it is part of no run of the observer.
            range: (0, 0),
            sources: said.map(source).collect(),
            condensed_by: None,
        };
        let mut batch = Batch::new();
        opened.observed(&written).await?.into_iter().for_each(|statement| batch.push(statement));
        opened.database.write(batch).await.map_err(ChroniclerError::from)?;
        Ok(Observed { id: written.id })
    }

    fn describe(&self, _: &ObserveArguments) -> Option<String> {
        Some("Writing this down".to_owned())
    }

    fn report(&self, arguments: &ObserveArguments, observed: &Observed) -> Option<CallReport> {
        let id = code_span(&observed.id);
        let content = one_line(&arguments.content, MAX_CONTENT_CHARACTERS);
        let summary = match arguments.at.as_deref() {
            Some(at) => {
                let at = one_line(at, MAX_DATE_CHARACTERS);
                format!("Written down for {at}, as {id}: {content}")
            }
            None => format!("Written down, as {id}: {content}"),
        };
        Some(CallReport::new(summary).data(observed))
    }
}
