//! Implements `browser_click`, which clicks an element.

use lango_protocol::CallReport;
use lango_tool::{Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::Deserialize;

use super::propose_action;
use crate::browser::NavigationMark;
use crate::error::NavigatorError;
use crate::outcome::{ActionOutcome, PageView};
use crate::page::{self, Element, ElementChoice};
use crate::sessions::{BrowserLease, Navigator};

pub(crate) struct Click {
    navigator: Navigator,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ClickArguments {
    /// Reference from the page's outline, such as e12.
    r#ref: Option<String>,
    /// CSS selector instead of ref; the first match in any frame.
    selector: Option<String>,
}

impl ClickArguments {
    fn element_choice(&self) -> ElementChoice {
        ElementChoice { reference: self.r#ref.clone(), selector: self.selector.clone() }
    }
}

impl Click {
    pub(crate) fn new(navigator: Navigator) -> Self {
        Self { navigator }
    }
}

impl Tool for Click {
    type Arguments = ClickArguments;
    type Output = ActionOutcome;
    const NAME: &'static str = "browser_click";
    const DESCRIPTION: &'static str = "Clicks an element of the current page, by its reference. Says what happened and shows the \
         page as it is then.";
    const LEVEL: SafetyLevel = SafetyLevel::Dangerous;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: ClickArguments,
        context: ToolContext,
    ) -> Result<ActionOutcome, ToolError> {
        self.navigator
            .run_call(&context, async |lease| {
                let browser = lease.browser()?;
                let references = self.navigator.references();
                let choice = arguments.element_choice();
                let element = page::find_element(
                    browser,
                    references,
                    lease.id(),
                    lease.generation(),
                    &choice,
                )
                .await?;
                if let Some(target) = &element.target {
                    browser.approve_site(target);
                }
                let mark = browser.mark_moment()?;
                page::watch_changes(browser, &element).await;
                let how = page::click_element(browser, &element).await?;
                build_action_outcome(&lease, &element, &mark, "Clicked", &how).await
            })
            .await
    }

    fn render(&self, output: &ActionOutcome) -> String {
        output.render()
    }

    fn describe(&self, _: &ClickArguments) -> Option<String> {
        Some("Clicking on the page".to_owned())
    }

    fn report(&self, _: &ClickArguments, output: &ActionOutcome) -> Option<CallReport> {
        Some(output.report())
    }

    fn propose(&self, arguments: &ClickArguments) -> Option<Proposal> {
        let (words, known) = arguments.element_choice().describe(self.navigator.references());
        let summary = format!("Click {words}");
        Some(match known {
            Some(reference) => Proposal {
                always_ask: reference.sensitivity.click_warning(),
                ..propose_action(summary, &reference, &["click"])
            },
            // It is not known beforehand what a selector will match on the page.
            None => Proposal {
                unreadable: Some("which element it is, is known only on the page".to_owned()),
                always_ask: Some("it may be a button that pays or signs in".to_owned()),
                ..Proposal::plain(summary)
            },
        })
    }
}

/// Builds the outcome of an action on an element.
pub(super) async fn build_action_outcome(
    lease: &BrowserLease,
    element: &Element,
    mark: &NavigationMark,
    done: &str,
    how: &str,
) -> Result<ActionOutcome, NavigatorError> {
    let browser = lease.browser()?;
    let arrival = browser.wait_for_reaction(mark).await?;
    let now = browser.mark_moment()?;
    let happened = if now.target != mark.target {
        "another tab is shown"
    } else if now.navigations != mark.navigations {
        "a new page is shown"
    } else if now.url != mark.url {
        "the address changed within the page"
    } else {
        match page::has_changed(browser, element, mark).await {
            Some(true) | None => "the page changed",
            Some(false) => "nothing on the page changed",
        }
    };
    let label = page::clean_line(&element.label);
    let how = if how.is_empty() { String::new() } else { format!(" ({how})") };
    let headline = format!("{done}: {label}{how}. Then: {happened}.");
    Ok(ActionOutcome { headline, page: PageView::read_current(lease, arrival).await? })
}
