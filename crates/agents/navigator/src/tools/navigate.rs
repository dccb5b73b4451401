//! `browser_navigate`: opens a page.

use lango_egress::{Blocked, Destination, Refusal, Url};
use lango_tool::{Proposal, SafetyLevel, Tool, ToolContext, ToolError, visible};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::browser::{Arrival, Browser};
use crate::error::NavigatorError;
use crate::page::place_of;
use crate::report::{self, Report};
use crate::sessions::{Held, Navigator};

pub(crate) struct Navigate {
    navigator: Navigator,
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NavigateArguments {
    /// The whole address, with http:// or https://.
    url: String,
}

impl Navigate {
    pub(crate) fn new(navigator: Navigator) -> Self {
        Self { navigator }
    }
}

impl Tool for Navigate {
    type Arguments = NavigateArguments;
    type Output = Report;
    const NAME: &'static str = "browser_navigate";
    const DESCRIPTION: &'static str = "Opens a web page in a real browser. Returns its title, \
        status and outline, with references to elements for other calls.";
    const LEVEL: SafetyLevel = SafetyLevel::Dangerous;
    const READ_ONLY: bool = false;

    async fn run(
        &self,
        arguments: NavigateArguments,
        context: ToolContext,
    ) -> Result<Report, ToolError> {
        self.navigator
            .run(&context, async |mut held| {
                let url = check(&self.navigator, &arguments.url).await?;
                open(&mut held, &url).await
            })
            .await
    }

    fn render(&self, output: &Report) -> String {
        output.0.clone()
    }

    fn propose(&self, arguments: &NavigateArguments) -> Option<Proposal> {
        // As it will be requested, so that no spelling hides where it leads.
        let address = match Destination::of_url(&arguments.url) {
            Ok((url, _)) => String::from(url),
            Err(_) => arguments.url.clone(),
        };
        let summary = format!("Open {}\nin the browser of this session", visible(&address));
        Some(Proposal::of(summary, [&address]))
    }
}

/// Refuses early and clearly what the proxy would refuse anyway, before a browser is started.
async fn check(navigator: &Navigator, text: &str) -> Result<Url, NavigatorError> {
    let (url, destination) = Destination::of_url(text)?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(Refusal::Scheme { scheme: url.scheme().to_owned() }.into());
    }
    navigator.settings().guard.resolve(&destination).await?;
    Ok(url)
}

async fn open(held: &mut Held, url: &Url) -> Result<Report, NavigatorError> {
    let mut headline = if held.has_ended() {
        "The browser had ended by itself and was started again. Opened."
    } else {
        "Opened."
    };
    let first = attempt(held, url).await;
    let arrival = match first {
        // Nothing was changed by a page that never came: once more, with a new browser.
        Err(NavigatorError::Ended) => {
            held.close().await;
            headline = "The browser ended and was started again. Opened.";
            attempt(held, url).await?
        }
        other => other?,
    };
    if arrival == Arrival::Download {
        return report::line(held, "The address is a file, not a page.").await;
    }
    match report::page(held, headline, arrival).await {
        // A page whose scripts never end is there all the same; they were stopped.
        Err(NavigatorError::Hangs) => {
            let headline =
                format!("{headline} Its scripts did not end by themselves and were stopped.");
            report::page(held, &headline, arrival).await
        }
        other => other,
    }
}

async fn attempt(held: &mut Held, url: &Url) -> Result<Arrival, NavigatorError> {
    let browser = held.started().await?;
    // What was left over from before is not about this page.
    browser.take_blocked();
    let arrived = browser.navigate(url.as_str()).await;
    let blocked = browser.take_blocked();
    match &arrived {
        Err(NavigatorError::NoTunnel(_)) => {
            // What has a scheme was asked for without a tunnel, and is not what failed.
            if let Some(reason) = blocked.iter().rfind(|one| !one.target.contains("://")) {
                return Err(refused(url, reason));
            }
        }
        Ok(_) => {
            if let Some(reason) = blocked.iter().find(|one| is_shown(browser, one)) {
                return Err(refused(url, reason));
            }
        }
        Err(_) => {}
    }
    browser.put_back(blocked);
    arrived
}

/// Whether the page that is shown is the proxy's refusal.
fn is_shown(browser: &Browser, blocked: &Blocked) -> bool {
    browser.tab().is_ok_and(|tab| tab.url == blocked.target)
}

fn refused(url: &Url, blocked: &Blocked) -> NavigatorError {
    let from = place_of(url.as_str());
    let target = place_of(&blocked.target);
    if from == target {
        return NavigatorError::Blocked(blocked.explanation.clone());
    }
    NavigatorError::Blocked(format!("{from} leads to {target}: {}", blocked.explanation))
}
