//! Defines the tools for lessons.

use lango_protocol::CallReport;
use lango_text::{code_span, to_one_line};
use lango_tool::{Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Learning, LearningHits, LearningOrigin, NewLearning};
use crate::knowledge::tools::{check_limit, check_query};
use crate::proposing::propose_keeping;
use crate::reporting::{
    MAX_ENTRY_CHARACTERS, MAX_NAME_CHARACTERS, MAX_REMARK_CHARACTERS, describe_activity,
    report_found_entries,
};
use crate::{Holdings, Provenance};

/// Implements `save_learning`.
pub(crate) struct SaveLearning(pub(crate) Holdings);

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SaveArguments {
    /// When it matters: the exact name of a tool, or a situation in a few words.
    trigger: String,
    /// What to do.
    fix: String,
    /// The error it helps against, as it was printed.
    error_pattern: Option<String>,
    /// Why it happens.
    diagnosis: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct SaveOutput {
    id: String,
}

impl Tool for SaveLearning {
    type Arguments = SaveArguments;
    type Output = SaveOutput;
    const NAME: &'static str = "save_learning";
    const DESCRIPTION: &'static str = "Saves a lesson: what to do when something fails. With a \
         tool as trigger and an error_pattern it is offered when that failure comes back.";
    const LEVEL: SafetyLevel = SafetyLevel::Moderate;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        given: SaveArguments,
        context: ToolContext,
    ) -> Result<SaveOutput, ToolError> {
        let new = NewLearning {
            trigger: given.trigger,
            error_pattern: given.error_pattern,
            diagnosis: given.diagnosis,
            fix: given.fix,
            origin: LearningOrigin::Told,
            provenance: Provenance::of_call(&context, None),
        };
        let id = self.0.in_space(context.space.own()).learnings().save(new).await?;
        Ok(SaveOutput { id })
    }

    fn propose(&self, given: &SaveArguments) -> Option<Proposal> {
        let SaveArguments { trigger, fix, error_pattern, diagnosis } = given;
        let [error_pattern, diagnosis] =
            [error_pattern, diagnosis].map(|text| text.as_deref().unwrap_or_default());
        Some(propose_keeping("lesson", [trigger, fix, error_pattern, diagnosis]))
    }

    fn describe(&self, given: &SaveArguments) -> Option<String> {
        describe_activity("Saving a lesson about", &given.trigger)
    }

    fn report(&self, _: &SaveArguments, saved: &SaveOutput) -> Option<CallReport> {
        let summary = format!("Saved the lesson, as {}.", code_span(&saved.id));
        Some(CallReport::new(summary).data(saved))
    }
}

/// Implements `search_learnings`.
pub(crate) struct SearchLearnings(pub(crate) Holdings);

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SearchArguments {
    /// What went wrong, or what is about to be done.
    query: String,
    /// How many hits at most.
    #[serde(default = "default_limit")]
    limit: u32,
}

fn default_limit() -> u32 {
    10
}

impl Tool for SearchLearnings {
    type Arguments = SearchArguments;
    type Output = LearningHits;
    const NAME: &'static str = "search_learnings";
    const DESCRIPTION: &'static str =
        "Finds lessons from earlier failures, with how often each of them helped.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(
        &self,
        given: SearchArguments,
        context: ToolContext,
    ) -> Result<LearningHits, ToolError> {
        let query = check_query(&given.query)?;
        let limit = check_limit(given.limit)?;
        Ok(self.0.in_space(context.space.own()).learnings().search(&query, limit).await?)
    }

    fn describe(&self, given: &SearchArguments) -> Option<String> {
        describe_activity("Looking for lessons about", &given.query)
    }

    fn report(&self, given: &SearchArguments, found: &LearningHits) -> Option<CallReport> {
        let lines: Vec<String> = found.hits.iter().map(|hit| line(&hit.learning)).collect();
        Some(report_found_entries(&given.query, &lines, found.note.as_deref()).data(&found.hits))
    }
}

/// Returns one entry of a list: the trigger, the remedy, the cause, and how often it helped.
fn line(learning: &Learning) -> String {
    let trigger = to_one_line(&learning.trigger, MAX_NAME_CHARACTERS);
    let fix = to_one_line(&learning.fix, MAX_ENTRY_CHARACTERS);
    let why = learning.diagnosis.as_deref().map(|why| to_one_line(why, MAX_REMARK_CHARACTERS));
    let why = why.map_or_else(String::new, |why| format!(" (why: {why})"));
    let tried = match learning.tries {
        0 => "not tried yet".to_owned(),
        tries => format!("helped {} of {tries} times", learning.successes),
    };
    format!("- {trigger}: {fix}{why} ({tried})")
}
