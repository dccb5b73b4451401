//! Implements `browser_back`, which returns to the previous page.

use lango_protocol::CallReport;
use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::error::NavigatorError;
use crate::outcome::{ActionOutcome, PageView};
use crate::sessions::Navigator;

pub(crate) struct Back {
    navigator: Navigator,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BackArguments {}

impl Back {
    pub(crate) fn new(navigator: Navigator) -> Self {
        Self { navigator }
    }
}

impl Tool for Back {
    type Arguments = BackArguments;
    type Output = ActionOutcome;
    const NAME: &'static str = "browser_back";
    const DESCRIPTION: &'static str = "Goes back to the page before the current one.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        _: BackArguments,
        context: ToolContext,
    ) -> Result<ActionOutcome, ToolError> {
        self.navigator
            .run_call(&context, async |lease| {
                let Some(arrival) = lease.browser()?.go_back().await? else {
                    let error = "there is no page before this one";
                    return Err(NavigatorError::Unsuitable(error.to_owned()));
                };
                let page = PageView::read_current(&lease, arrival).await?;
                Ok(ActionOutcome { headline: "Went back.".to_owned(), page })
            })
            .await
    }

    fn render(&self, output: &ActionOutcome) -> String {
        output.render()
    }

    fn describe(&self, _: &BackArguments) -> Option<String> {
        Some("Going back a page".to_owned())
    }

    fn report(&self, _: &BackArguments, output: &ActionOutcome) -> Option<CallReport> {
        Some(output.report())
    }
}
