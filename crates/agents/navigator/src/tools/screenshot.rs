//! Implements `browser_screenshot`, which stores a picture of the page in a file.

use std::path::PathBuf;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use lango_protocol::CallReport;
use lango_text::code_span;
use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::browser::Browser;
use crate::error::NavigatorError;
use crate::outcome::IncidentReport;
use crate::protocol::{CallError, CaptureScreenshot, Clip, GetLayoutMetrics};
use crate::sessions::Navigator;
use crate::storage;

/// Limits the height of a picture in pixels. Some pages have no end.
const MAX_HEIGHT_PIXELS: f64 = 10_000.0;
const MAX_WIDTH_PIXELS: f64 = 4_000.0;

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

#[derive(Debug, Serialize)]
pub(crate) struct ScreenshotOutcome {
    path: PathBuf,
    width: u32,
    height: u32,
    bytes: usize,
    #[serde(skip)]
    meanwhile: IncidentReport,
}

impl ScreenshotOutcome {
    /// Returns the size of the picture and of its file.
    fn size(&self) -> String {
        let Self { width, height, bytes, .. } = self;
        format!("{width} x {height} pixels, {bytes} bytes")
    }

    fn report(&self) -> CallReport {
        let path = code_span(&self.path.display().to_string());
        let summary = format!("A picture of the page is in {path} ({}).", self.size());
        self.meanwhile.report(CallReport::new(summary)).data(self)
    }
}

impl Screenshot {
    pub(crate) fn new(navigator: Navigator) -> Self {
        Self { navigator }
    }
}

impl Tool for Screenshot {
    type Arguments = ScreenshotArguments;
    type Output = ScreenshotOutcome;
    const NAME: &'static str = "browser_screenshot";
    const DESCRIPTION: &'static str =
        "Takes a picture of the current page and stores it as a PNG file. Returns its path.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: ScreenshotArguments,
        context: ToolContext,
    ) -> Result<ScreenshotOutcome, ToolError> {
        self.navigator
            .run_call(&context, async |lease| {
                let png = capture_screenshot(lease.browser()?, arguments.full_page).await?;
                let directory = self.navigator.settings().screenshots.join(lease.id().as_str());
                let path = storage::store_screenshot(&directory, &png)?;
                let (width, height) = png_size(&png);
                let (bytes, meanwhile) = (png.len(), IncidentReport::take_from(&lease).await?);
                Ok(ScreenshotOutcome { path, width, height, bytes, meanwhile })
            })
            .await
    }

    fn render(&self, output: &ScreenshotOutcome) -> String {
        let line = format!("Stored {} ({})", output.path.display(), output.size());
        output.meanwhile.render(&line)
    }

    fn describe(&self, _: &ScreenshotArguments) -> Option<String> {
        Some("Taking a picture of the page".to_owned())
    }

    fn report(&self, _: &ScreenshotArguments, output: &ScreenshotOutcome) -> Option<CallReport> {
        Some(output.report())
    }
}

async fn capture_screenshot(browser: &Browser, full_page: bool) -> Result<Vec<u8>, NavigatorError> {
    let tab = browser.tab()?;
    if tab.is_crashed {
        return Err(NavigatorError::Crashed);
    }
    let clip = if full_page {
        let size = browser.call(&tab.session, GetLayoutMetrics {}).await?.css_content_size;
        let width = size.width.clamp(1.0, MAX_WIDTH_PIXELS);
        let height = size.height.clamp(1.0, MAX_HEIGHT_PIXELS);
        Some(Clip { x: 0.0, y: 0.0, width, height, scale: 1.0 })
    } else {
        None
    };
    let command = CaptureScreenshot { format: "png", capture_beyond_viewport: full_page, clip };
    let shot = match browser.call_within(&tab.session, command, browser.timeout()).await {
        Ok(shot) => shot,
        Err(NavigatorError::Call(CallError::TooLong)) => {
            let error = "the picture is too large. Take one without full_page";
            return Err(NavigatorError::Unsuitable(error.to_owned()));
        }
        Err(NavigatorError::Call(CallError::TimedOut { .. })) => {
            return Err(browser.stop_scripts(&tab.session).await);
        }
        Err(error) => return Err(error),
    };
    BASE64_STANDARD
        .decode(shot.data)
        .map_err(|error| NavigatorError::Failed(format!("the picture is broken: {error}")))
}

/// Returns width and height, from the header that every PNG has.
fn png_size(png: &[u8]) -> (u32, u32) {
    let at = |index: usize| {
        let bytes = png.get(index..index + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u32::from_be_bytes)
    };
    (at(16), at(20))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_told_by_its_file_and_size() {
        let (path, meanwhile) = (PathBuf::from("/home/ada/shot 1.png"), IncidentReport::default());
        let outcome = ScreenshotOutcome { path, width: 1280, height: 757, bytes: 15012, meanwhile };
        let report = outcome.report();
        assert_eq!(
            report.summary,
            "A picture of the page is in `/home/ada/shot 1.png` (1280 x 757 pixels, 15012 bytes)."
        );
        assert_eq!(
            report.data,
            Some(serde_json::json!({
                "path": "/home/ada/shot 1.png", "width": 1280, "height": 757, "bytes": 15012
            }))
        );
    }
}
