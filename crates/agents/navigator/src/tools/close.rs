//! `browser_close`: ends the session's browser.

use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::report::Report;
use crate::sessions::Navigator;

pub(crate) struct Close {
    navigator: Navigator,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CloseArguments {}

impl Close {
    pub(crate) fn new(navigator: Navigator) -> Self {
        Self { navigator }
    }
}

impl Tool for Close {
    type Arguments = CloseArguments;
    type Output = Report;
    const NAME: &'static str = "browser_close";
    const DESCRIPTION: &'static str =
        "Closes the browser of this session, with its pages and its sign-ins.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = false;

    async fn run(&self, _: CloseArguments, context: ToolContext) -> Result<Report, ToolError> {
        self.navigator
            .run(&context, async |mut held| {
                let text = if held.close().await { "Closed." } else { "No browser was open." };
                Ok(Report(text.to_owned()))
            })
            .await
    }

    fn render(&self, output: &Report) -> String {
        output.0.clone()
    }
}
