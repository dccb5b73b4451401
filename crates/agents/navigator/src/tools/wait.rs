//! Implements `browser_wait`, which waits for an element or a text.

use std::time::Duration;

use lango_protocol::CallReport;
use lango_text::{code_span, make_visible_short};
use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::time::Instant;

use crate::browser::Browser;
use crate::error::NavigatorError;
use crate::outcome::IncidentReport;
use crate::sessions::Navigator;

const DEFAULT_SECONDS: u64 = 10;
const MAX_SECONDS: u64 = 120;
const POLL_INTERVAL: Duration = Duration::from_millis(200);

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

#[derive(Debug, Serialize)]
pub(crate) struct WaitOutcome {
    /// The element or the text.
    what: String,
    found: bool,
    /// The limit of the wait.
    seconds: u64,
    #[serde(skip)]
    meanwhile: IncidentReport,
}

impl WaitOutcome {
    fn report(&self) -> CallReport {
        let what = code_span(&self.what);
        let summary = if self.found {
            format!("{what} is on the page.")
        } else {
            format!("{what} was not found on the page within {} s.", self.seconds)
        };
        let report = self.meanwhile.report(CallReport::new(summary)).data(self);
        if self.found { report } else { report.unsuccessful() }
    }
}

impl Wait {
    pub(crate) fn new(navigator: Navigator) -> Self {
        Self { navigator }
    }
}

impl Tool for Wait {
    type Arguments = WaitArguments;
    type Output = WaitOutcome;
    const NAME: &'static str = "browser_wait";
    const DESCRIPTION: &'static str =
        "Waits until an element or a text is on the current page. Says whether it came.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: WaitArguments,
        context: ToolContext,
    ) -> Result<WaitOutcome, ToolError> {
        let what = match (&arguments.selector, &arguments.text) {
            (Some(selector), None) => make_visible_short(selector),
            (None, Some(text)) => make_visible_short(text),
            _ => {
                let either = "give either selector or text".to_owned();
                return Err(ToolError::Arguments(either));
            }
        };
        let seconds = arguments.timeout_seconds.unwrap_or(DEFAULT_SECONDS).min(MAX_SECONDS);
        self.navigator
            .run_call(&context, async |lease| {
                let browser = lease.browser()?;
                let deadline = Instant::now() + Duration::from_secs(seconds);
                let mut found = is_there(browser, &arguments).await?;
                while !found && Instant::now() < deadline {
                    tokio::time::sleep(POLL_INTERVAL).await;
                    found = is_there(browser, &arguments).await?;
                }
                let meanwhile = IncidentReport::take_from(&lease).await?;
                Ok(WaitOutcome { what, found, seconds, meanwhile })
            })
            .await
    }

    fn render(&self, output: &WaitOutcome) -> String {
        let WaitOutcome { what, found, seconds, meanwhile } = output;
        if *found {
            return meanwhile.render(&format!("Found: {what}"));
        }
        meanwhile.render(&format!("Not found within {seconds} s: {what}"))
    }

    fn describe(&self, _: &WaitArguments) -> Option<String> {
        Some("Waiting for the page".to_owned())
    }

    fn report(&self, _: &WaitArguments, output: &WaitOutcome) -> Option<CallReport> {
        Some(output.report())
    }
}

async fn is_there(browser: &Browser, wanted: &WaitArguments) -> Result<bool, NavigatorError> {
    for frame in browser.list_frames().await? {
        let arguments = vec![
            Value::from(wanted.selector.clone().unwrap_or_default()),
            Value::from(wanted.text.clone().unwrap_or_default()),
        ];
        match browser.call_in_frame(&frame, "has", arguments).await {
            Ok(true) => return Ok(true),
            Err(NavigatorError::Failed(reason)) if reason.contains("bad selector") => {
                let selector = make_visible_short(wanted.selector.as_deref().unwrap_or_default());
                let error = format!("{selector} is not a CSS selector");
                return Err(NavigatorError::Unsuitable(error));
            }
            // The page may be navigating to another one: that is what the call waits for.
            Ok(false) | Err(NavigatorError::Failed(_) | NavigatorError::Call(_)) => {}
            Err(_) if !frame.is_main && !browser.is_gone() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_says_whether_it_came() {
        let outcome = |found| WaitOutcome {
            what: "Garden".to_owned(),
            found,
            seconds: 1,
            meanwhile: IncidentReport::default(),
        };
        let report = outcome(true).report();
        assert!(!report.unsuccessful);
        assert_eq!(report.summary, "`Garden` is on the page.");
        let data = serde_json::json!({"what": "Garden", "found": true, "seconds": 1});
        assert_eq!(report.data, Some(data));
        let report = outcome(false).report();
        assert_eq!(report.summary, "`Garden` was not found on the page within 1 s.");
        assert!(report.unsuccessful);
    }
}
