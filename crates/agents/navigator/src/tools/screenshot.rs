//! `browser_screenshot`: a picture of the page, in a file.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::browser::Browser;
use crate::error::NavigatorError;
use crate::protocol::{CallError, CaptureScreenshot, Clip, GetLayoutMetrics};
use crate::report::{self, Report};
use crate::sessions::Navigator;
use crate::storage;

/// Pixels of a picture's height. Some pages have no end.
const HIGHEST: f64 = 10_000.0;
const WIDEST: f64 = 4_000.0;

pub(crate) struct Screenshot {
    navigator: Navigator,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ScreenshotArguments {
    /// The whole page instead of what fits the window; 10000 pixels high at most.
    #[serde(default)]
    full_page: bool,
}

impl Screenshot {
    pub(crate) fn new(navigator: Navigator) -> Self {
        Self { navigator }
    }
}

impl Tool for Screenshot {
    type Arguments = ScreenshotArguments;
    type Output = Report;
    const NAME: &'static str = "browser_screenshot";
    const DESCRIPTION: &'static str =
        "Takes a picture of the current page and stores it as a PNG file. Returns its path.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: ScreenshotArguments,
        context: ToolContext,
    ) -> Result<Report, ToolError> {
        self.navigator
            .run(&context, async |held| {
                let png = capture(held.browser()?, arguments.full_page).await?;
                let directory = self.navigator.settings().screenshots.join(held.id().as_str());
                let path = storage::keep_screenshot(&directory, &png)?;
                let (width, height) = size_of(&png);
                let line = format!(
                    "Stored {} ({width} x {height} pixels, {} bytes)",
                    path.display(),
                    png.len()
                );
                report::line(&held, &line).await
            })
            .await
    }

    fn render(&self, output: &Report) -> String {
        output.0.clone()
    }
}

async fn capture(browser: &Browser, full_page: bool) -> Result<Vec<u8>, NavigatorError> {
    let tab = browser.tab()?;
    if tab.is_crashed {
        return Err(NavigatorError::Crashed);
    }
    let clip = if full_page {
        let size = browser.tell(&tab.session, GetLayoutMetrics {}).await?.css_content_size;
        let (width, height) = (size.width.clamp(1.0, WIDEST), size.height.clamp(1.0, HIGHEST));
        Some(Clip { x: 0.0, y: 0.0, width, height, scale: 1.0 })
    } else {
        None
    };
    let command = CaptureScreenshot { format: "png", capture_beyond_viewport: full_page, clip };
    let shot = match browser.tell_within(&tab.session, command, browser.timeout()).await {
        Ok(shot) => shot,
        Err(NavigatorError::Call(CallError::TooLong)) => {
            let error = "the picture is too large. Take one without full_page";
            return Err(NavigatorError::Unsuitable(error.to_owned()));
        }
        Err(NavigatorError::Call(CallError::TimedOut { .. })) => {
            return Err(browser.stop(&tab.session).await);
        }
        Err(error) => return Err(error),
    };
    BASE64_STANDARD
        .decode(shot.data)
        .map_err(|error| NavigatorError::Failed(format!("the picture is broken: {error}")))
}

/// Width and height, from where every PNG has them.
fn size_of(png: &[u8]) -> (u32, u32) {
    let at = |index: usize| {
        let bytes = png.get(index..index + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u32::from_be_bytes)
    };
    (at(16), at(20))
}
