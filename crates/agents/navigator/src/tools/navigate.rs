//! Implements `browser_navigate`, which opens a page.

use lango_egress::{BlockedRequest, Destination, Refusal, Url};
use lango_protocol::CallReport;
use lango_text::{code_span, make_visible};
use lango_tool::{Proposal, SafetyLevel, Tool, ToolContext, ToolError};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::browser::{Browser, LoadProgress};
use crate::error::NavigatorError;
use crate::outcome::{IncidentReport, PageView};
use crate::page::display_address;
use crate::sessions::{BrowserLease, Navigator};

pub(crate) struct Navigate {
    navigator: Navigator,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NavigateArguments {
    /// The whole address, with http:// or https://.
    url: String,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum NavigateOutcome {
    /// A page is shown.
    Page {
        /// A note about the browser that comes first.
        preface: Option<&'static str>,
        /// True if scripts of the page had to be stopped.
        scripts_stopped: bool,
        view: Box<PageView>,
    },
    /// The address led to a file.
    File(IncidentReport),
}

/// Is said of a page whose scripts were stopped.
const SCRIPTS_STOPPED: &str = "Its scripts did not end by themselves and were stopped.";

impl NavigateOutcome {
    fn report(&self, url: &str) -> CallReport {
        match self {
            Self::Page { preface, scripts_stopped, view } => {
                view.report_opened(*preface, scripts_stopped.then_some(SCRIPTS_STOPPED))
            }
            Self::File(meanwhile) => {
                let url = make_visible(&code_span(url));
                let report = CallReport::new(format!("{url} is a file, not a page."));
                match meanwhile.lines() {
                    [] => report,
                    lines => report.markdown(lines.join("\n")),
                }
            }
        }
    }
}

impl Navigate {
    pub(crate) fn new(navigator: Navigator) -> Self {
        Self { navigator }
    }
}

impl Tool for Navigate {
    type Arguments = NavigateArguments;
    type Output = NavigateOutcome;
    const NAME: &'static str = "browser_navigate";
    const DESCRIPTION: &'static str = "Opens a web page in a real browser. Returns its title, \
        status and outline, with references to elements for other calls.";
    const LEVEL: SafetyLevel = SafetyLevel::Dangerous;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: NavigateArguments,
        context: ToolContext,
    ) -> Result<NavigateOutcome, ToolError> {
        self.navigator
            .run_call(&context, async |mut lease| {
                let url = check_address(&self.navigator, &arguments.url).await?;
                open(&mut lease, &url).await
            })
            .await
    }

    fn render(&self, output: &NavigateOutcome) -> String {
        match output {
            NavigateOutcome::Page { preface, scripts_stopped, view } => {
                let mut headline = preface.map(|preface| format!("{preface} ")).unwrap_or_default();
                headline.push_str("Opened.");
                if *scripts_stopped {
                    headline.push_str(&format!(" {SCRIPTS_STOPPED}"));
                }
                view.render(&headline)
            }
            NavigateOutcome::File(meanwhile) => {
                meanwhile.render("The address is a file, not a page.")
            }
        }
    }

    fn describe(&self, arguments: &NavigateArguments) -> Option<String> {
        let url = &arguments.url;
        (!url.trim().is_empty()).then(|| format!("Opening {}", make_visible(&code_span(url))))
    }

    fn report(
        &self,
        arguments: &NavigateArguments,
        output: &NavigateOutcome,
    ) -> Option<CallReport> {
        Some(output.report(&arguments.url))
    }

    fn propose(&self, arguments: &NavigateArguments) -> Option<Proposal> {
        // The address is shown as it will be requested, so that no spelling hides where it leads.
        let address = match Destination::of_url(&arguments.url) {
            Ok((url, _)) => String::from(url),
            Err(_) => arguments.url.clone(),
        };
        let summary = format!("Open {}\nin the browser of this session", make_visible(&address));
        Some(Proposal::of(summary, [&address]))
    }
}

/// Refuses early and clearly what the proxy would refuse anyway, before a browser is started.
async fn check_address(navigator: &Navigator, text: &str) -> Result<Url, NavigatorError> {
    let (url, destination) = Destination::of_url(text)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(Refusal::Scheme { scheme: url.scheme().to_owned() }.into());
    }
    navigator.settings().guard.resolve(&destination).await?;
    Ok(url)
}

async fn open(lease: &mut BrowserLease, url: &Url) -> Result<NavigateOutcome, NavigatorError> {
    let mut preface =
        lease.has_ended().then_some("The browser had ended by itself and was started again.");
    let first = attempt_navigation(lease, url).await;
    let arrival = match first {
        // A page that never loaded has changed nothing: try once more, with a new browser.
        Err(NavigatorError::Ended) => {
            lease.close().await;
            preface = Some("The browser ended and was started again.");
            attempt_navigation(lease, url).await?
        }
        other => other?,
    };
    if arrival == LoadProgress::Download {
        return Ok(NavigateOutcome::File(IncidentReport::take_from(lease).await?));
    }
    let (view, scripts_stopped) = match PageView::read_current(lease, arrival).await {
        // A page whose scripts never end can be read all the same; they were stopped.
        Err(NavigatorError::Hangs) => (PageView::read_current(lease, arrival).await?, true),
        other => (other?, false),
    };
    Ok(NavigateOutcome::Page { preface, scripts_stopped, view: Box::new(view) })
}

async fn attempt_navigation(
    lease: &mut BrowserLease,
    url: &Url,
) -> Result<LoadProgress, NavigatorError> {
    let browser = lease.start_if_needed().await?;
    // What is left from before is not about this page.
    browser.take_blocked();
    let arrived = browser.navigate(url.as_str()).await;
    let blocked = browser.take_blocked();
    match &arrived {
        Err(NavigatorError::OtherSite { page }) => {
            return Err(explain_other_site(lease, url, page).await);
        }
        Err(NavigatorError::NoTunnel(_)) => {
            // A target with a scheme was requested without a tunnel, and is not what failed.
            if let Some(reason) = blocked.iter().rfind(|one| !one.target.contains("://")) {
                return Err(refused_error(url, reason));
            }
        }
        Ok(_) => {
            if let Some(reason) = blocked.iter().find(|one| is_shown(browser, one)) {
                return Err(refused_error(url, reason));
            }
        }
        Err(_) => {}
    }
    browser.return_blocked_requests(blocked);
    arrived
}

/// Says where a page leads that was not followed: to a place that may not be reached at all, or to
/// another site than the one that the question or the rule was about.
async fn explain_other_site(lease: &BrowserLease, url: &Url, page: &str) -> NavigatorError {
    let (from, target) = (display_address(url.as_str()), display_address(page));
    let reason = match check_address(lease.navigator(), page).await {
        Err(refused) => refused.to_string(),
        Ok(_) => "that is another site than the one that was asked about. To go there, call \
                  browser_navigate with its address"
            .to_owned(),
    };
    NavigatorError::Blocked(format!("{from} leads to {target}: {reason}"))
}

/// Tells whether the page that is shown is the proxy's refusal.
fn is_shown(browser: &Browser, blocked: &BlockedRequest) -> bool {
    browser.tab().is_ok_and(|tab| tab.url == blocked.target)
}

fn refused_error(url: &Url, blocked: &BlockedRequest) -> NavigatorError {
    let from = display_address(url.as_str());
    let target = display_address(&blocked.target);
    if from == target {
        return NavigatorError::Blocked(blocked.explanation.clone());
    }
    NavigatorError::Blocked(format!("{from} leads to {target}: {}", blocked.explanation))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_not_told_as_a_page() {
        let outcome = NavigateOutcome::File(IncidentReport::default());
        let report = outcome.report("http://a.example/x.zip\u{202e}");
        assert_eq!(
            report,
            CallReport::new("`http://a.example/x.zip\\u{202e}` is a file, not a page.")
        );
    }
}
