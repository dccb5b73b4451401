//! Implements `browser_read`, which reads the page.

use lango_protocol::CallReport;
use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::outcome::{PageExcerpt, Remainder};
use crate::page::{Outline, ReadMode, read_page};
use crate::sessions::Navigator;

/// Limits how many characters are returned if the call sets no limit.
const DEFAULT_TEXT_CHARACTERS: u64 = 12_000;
const MAX_TEXT_CHARACTERS: u64 = 60_000;
/// Limits how many lines of an outline are returned if the call sets no limit.
const DEFAULT_LINE_COUNT: u64 = 200;
const MAX_LINE_COUNT: u64 = 1000;

pub(crate) struct Read {
    navigator: Navigator,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadArguments {
    /// article (the default): what a person would read. text: all visible text. links: with
    /// addresses. tables: as Markdown. outline: elements with references such as e12.
    #[serde(default)]
    mode: ReadMode,
    /// Where to begin: characters, or lines of the outline.
    #[serde(default)]
    offset: u64,
    /// How much: characters (12000 unless given), or lines of the outline (200 unless given).
    limit: Option<u64>,
}

impl Read {
    pub(crate) fn new(navigator: Navigator) -> Self {
        Self { navigator }
    }
}

impl Tool for Read {
    type Arguments = ReadArguments;
    type Output = PageExcerpt;
    const NAME: &'static str = "browser_read";
    const DESCRIPTION: &'static str =
        "Reads the current page: its article, text, links, tables, or the outline of its elements.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(
        &self,
        arguments: ReadArguments,
        context: ToolContext,
    ) -> Result<PageExcerpt, ToolError> {
        let ReadArguments { mode, offset, limit } = arguments;
        self.navigator
            .run_call(&context, async |lease| {
                let browser = lease.browser()?;
                if mode == ReadMode::Outline {
                    let limit = limit.unwrap_or(DEFAULT_LINE_COUNT).clamp(1, MAX_LINE_COUNT);
                    let references = self.navigator.references();
                    let outline =
                        Outline::read_current(browser, references, lease.id(), lease.generation())
                            .await?;
                    let [begin, length] = [offset, limit].map(|n| usize::try_from(n).unwrap_or(0));
                    let part = outline.cut_part(begin, length);
                    let more = u64::try_from(part.more).unwrap_or(0);
                    let rest = Remainder::from_offset(more, "lines", offset.saturating_add(limit));
                    return PageExcerpt::from_body(&lease, &part.text, rest).await;
                }
                let limit = limit.unwrap_or(DEFAULT_TEXT_CHARACTERS).clamp(1, MAX_TEXT_CHARACTERS);
                let part = read_page(browser, mode, offset, limit).await?;
                let rest = if part.text.trim().is_empty() {
                    Remainder::Nothing
                } else {
                    Remainder::from_offset(part.more, "characters", offset.saturating_add(limit))
                };
                PageExcerpt::from_body(&lease, &part.text, rest).await
            })
            .await
    }

    fn render(&self, output: &PageExcerpt) -> String {
        output.render()
    }

    fn describe(&self, _: &ReadArguments) -> Option<String> {
        Some("Reading the page".to_owned())
    }

    fn report(&self, arguments: &ReadArguments, output: &PageExcerpt) -> Option<CallReport> {
        Some(output.report(arguments.mode, arguments.offset == 0))
    }
}
