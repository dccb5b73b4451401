//! Reads the words of a page, a bounded part at a time.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::browser::{Browser, FrameReference};
use crate::error::NavigatorError;

/// What of a page is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(rename = "Mode")]
pub(crate) enum ReadMode {
    /// What a person would read: headings, paragraphs, lists, tables.
    #[default]
    Article,
    /// All visible text.
    Text,
    /// Links with their addresses.
    Links,
    /// Tables as Markdown.
    Tables,
    /// Elements with references to use in other calls.
    Outline,
}

impl ReadMode {
    fn name(self) -> &'static str {
        match self {
            Self::Article => "article",
            Self::Text => "text",
            Self::Links => "links",
            Self::Tables => "tables",
            Self::Outline => "outline",
        }
    }
}

/// Holds a part of a page's text.
#[derive(Debug, Default)]
pub(crate) struct PageTextPart {
    pub(crate) text: String,
    /// The number of characters that come after it.
    pub(crate) more: u64,
}

#[derive(Deserialize)]
struct FramePart {
    text: String,
    total: u64,
}

/// Reads a part of the current page, frame after frame.
pub(crate) async fn read_page(
    browser: &Browser,
    mode: ReadMode,
    offset: u64,
    limit: u64,
) -> Result<PageTextPart, NavigatorError> {
    let mut read = PageTextPart::default();
    let (mut skip, mut left) = (offset, limit);
    for frame in browser.list_frames().await? {
        let arguments = vec![Value::from(mode.name()), Value::from(skip), Value::from(left)];
        let part: FramePart = match browser.call_in_frame(&frame, "read", arguments).await {
            Ok(part) => part,
            // A frame that goes away or hangs does not fail the page.
            Err(_) if !frame.is_main && !browser.is_gone() => continue,
            Err(error) => return Err(error),
        };
        if !part.text.trim().is_empty() {
            if !frame.is_main {
                read.text.push_str(&format!("\nframe {}:\n", super::display_address(&frame.url)));
            }
            read.text.push_str(&part.text);
        }
        let shown = part.total.saturating_sub(skip).min(left);
        read.more += part.total.saturating_sub(skip).saturating_sub(left);
        skip = skip.saturating_sub(part.total);
        left -= shown;
    }
    Ok(read)
}

/// Describes the response of the server.
#[derive(Debug, Deserialize)]
pub(crate) struct ServerResponse {
    pub(crate) status: u16,
    pub(crate) title: String,
    #[serde(rename = "type")]
    pub(crate) content_type: String,
}

/// Returns the status of the current document; 0 if the browser does not know it.
pub(crate) async fn read_status(
    browser: &Browser,
    main: &FrameReference,
) -> Result<ServerResponse, NavigatorError> {
    browser.call_in_frame(main, "measure", Vec::new()).await
}
