//! `browser_read`: what is on the page.

use lango_tool::{SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::page::{Mode, Outline, read};
use crate::report::{self, Report};
use crate::sessions::Navigator;

/// Characters of text without a limit of the call's own, and at most.
const USUAL_TEXT: u64 = 12_000;
const MOST_TEXT: u64 = 60_000;
/// The same for lines of an outline.
const USUAL_LINES: u64 = 200;
const MOST_LINES: u64 = 1000;

pub(crate) struct Read {
    navigator: Navigator,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReadArguments {
    /// article (the default): what a person would read. text: all visible text. links: with
    /// addresses. tables: as Markdown. outline: elements with references such as e12.
    #[serde(default)]
    mode: Mode,
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
    type Output = Report;
    const NAME: &'static str = "browser_read";
    const DESCRIPTION: &'static str =
        "Reads the current page: its article, text, links, tables, or the outline of its elements.";
    const LEVEL: SafetyLevel = SafetyLevel::Safe;
    const READ_ONLY: bool = true;

    async fn run(
        &self,
        arguments: ReadArguments,
        context: ToolContext,
    ) -> Result<Report, ToolError> {
        let ReadArguments { mode, offset, limit } = arguments;
        self.navigator
            .run(&context, async |held| {
                let browser = held.browser()?;
                if mode == Mode::Outline {
                    let limit = limit.unwrap_or(USUAL_LINES).clamp(1, MOST_LINES);
                    let references = self.navigator.references();
                    let outline =
                        Outline::of(browser, references, held.id(), held.generation()).await?;
                    let [begin, length] = [offset, limit].map(|n| usize::try_from(n).unwrap_or(0));
                    let (part, more) = outline.part(begin, length);
                    let after = rest(
                        u64::try_from(more).unwrap_or(0),
                        "lines",
                        offset.saturating_add(limit),
                    );
                    return report::text(&held, &part, &after).await;
                }
                let limit = limit.unwrap_or(USUAL_TEXT).clamp(1, MOST_TEXT);
                let part = read(browser, mode, offset, limit).await?;
                let after = if part.text.trim().is_empty() {
                    "There is nothing of that kind on the page. Try another mode.".to_owned()
                } else {
                    rest(part.more, "characters", offset.saturating_add(limit))
                };
                report::text(&held, &part.text, &after).await
            })
            .await
    }

    fn render(&self, output: &Report) -> String {
        output.0.clone()
    }
}

fn rest(more: u64, unit: &str, next: u64) -> String {
    if more == 0 {
        return String::new();
    }
    format!("{more} more {unit}: read on with offset {next}")
}
