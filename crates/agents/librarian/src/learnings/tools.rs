//! Lessons as tools.

use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{LearningHits, LearningOrigin, NewLearning};
use crate::knowledge::tools::{hits, query};
use crate::{Holdings, Provenance};

/// `save_learning`.
pub(crate) struct SaveLearning(pub(crate) Holdings);

#[derive(Debug, Deserialize, JsonSchema)]
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
        let id = self.0.learnings().save(new).await?;
        Ok(SaveOutput { id })
    }
}

/// `search_learnings`.
pub(crate) struct SearchLearnings(pub(crate) Holdings);

#[derive(Debug, Deserialize, JsonSchema)]
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

    async fn run(&self, given: SearchArguments, _: ToolContext) -> Result<LearningHits, ToolError> {
        let query = query(&given.query)?;
        let limit = hits(given.limit)?;
        Ok(self.0.learnings().search(&query, limit).await?)
    }
}
