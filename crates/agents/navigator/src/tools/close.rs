//! Implements `browser_close`, which ends the session's browser.

use lango_protocol::CallReport;
use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::sessions::Navigator;

pub(crate) struct Close {
    navigator: Navigator,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct CloseArguments {}

#[derive(Debug, Serialize)]
pub(crate) struct CloseOutcome {
    was_open: bool,
}

impl Close {
    pub(crate) fn new(navigator: Navigator) -> Self {
        Self { navigator }
    }
}

impl Tool for Close {
    type Arguments = CloseArguments;
    type Output = CloseOutcome;
    const NAME: &'static str = "browser_close";
    const DESCRIPTION: &'static str =
        "Closes the browser of this session, with its pages and its sign-ins.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        _: CloseArguments,
        context: ToolContext,
    ) -> Result<CloseOutcome, ToolError> {
        self.navigator
            .run_call(&context, async |mut lease| {
                Ok(CloseOutcome { was_open: lease.close().await })
            })
            .await
    }

    fn render(&self, output: &CloseOutcome) -> String {
        if output.was_open { "Closed." } else { "No browser was open." }.to_owned()
    }

    fn describe(&self, _: &CloseArguments) -> Option<String> {
        Some("Closing the browser".to_owned())
    }

    fn report(&self, _: &CloseArguments, output: &CloseOutcome) -> Option<CallReport> {
        let closed = output.was_open;
        let summary = if closed { "The browser is closed." } else { "No browser was open." };
        Some(CallReport::new(summary).data(output))
    }
}
