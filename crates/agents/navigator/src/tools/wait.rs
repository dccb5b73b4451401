//! `browser_wait`: waits for an element or a text.

use std::time::Duration;

use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError, visible_short};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio::time::Instant;

use crate::browser::Browser;
use crate::error::NavigatorError;
use crate::report::{self, Report};
use crate::sessions::Navigator;

const USUAL_SECONDS: u64 = 10;
const MOST_SECONDS: u64 = 120;
const PAUSE: Duration = Duration::from_millis(200);

pub(crate) struct Wait {
    navigator: Navigator,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WaitArguments {
    /// CSS selector of an element that should be visible.
    selector: Option<String>,
    /// Text that should be on the page.
    text: Option<String>,
    /// How long to wait; 10 unless given, 120 at most.
    timeout_seconds: Option<u64>,
}

impl Wait {
    pub(crate) fn new(navigator: Navigator) -> Self {
        Self { navigator }
    }
}

impl Tool for Wait {
    type Arguments = WaitArguments;
    type Output = Report;
    const NAME: &'static str = "browser_wait";
    const DESCRIPTION: &'static str =
        "Waits until an element or a text is on the current page. Says whether it came.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: WaitArguments,
        context: ToolContext,
    ) -> Result<Report, ToolError> {
        let what = match (&arguments.selector, &arguments.text) {
            (Some(selector), None) => visible_short(selector),
            (None, Some(text)) => visible_short(text),
            _ => {
                let either = "give either selector or text".to_owned();
                return Err(ToolError::Arguments(either));
            }
        };
        let seconds = arguments.timeout_seconds.unwrap_or(USUAL_SECONDS).min(MOST_SECONDS);
        self.navigator
            .run(&context, async |held| {
                let browser = held.browser()?;
                let deadline = Instant::now() + Duration::from_secs(seconds);
                loop {
                    if is_there(browser, &arguments).await? {
                        return report::line(&held, &format!("Found: {what}")).await;
                    }
                    if Instant::now() >= deadline {
                        let line = format!("Not found within {seconds} s: {what}");
                        return report::line(&held, &line).await;
                    }
                    tokio::time::sleep(PAUSE).await;
                }
            })
            .await
    }

    fn render(&self, output: &Report) -> String {
        output.0.clone()
    }
}

async fn is_there(browser: &Browser, wanted: &WaitArguments) -> Result<bool, NavigatorError> {
    for frame in browser.frames().await? {
        let arguments = vec![
            Value::from(wanted.selector.clone().unwrap_or_default()),
            Value::from(wanted.text.clone().unwrap_or_default()),
        ];
        match browser.ask_frame(&frame, "has", arguments).await {
            Ok(true) => return Ok(true),
            Err(NavigatorError::Failed(reason)) if reason.contains("bad selector") => {
                let selector = visible_short(wanted.selector.as_deref().unwrap_or_default());
                let error = format!("{selector} is not a CSS selector");
                return Err(NavigatorError::Unsuitable(error));
            }
            // The page may be on its way to another one: that is what is waited for.
            Ok(false) | Err(NavigatorError::Failed(_) | NavigatorError::Call(_)) => {}
            Err(_) if !frame.is_main && !browser.is_gone() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}
