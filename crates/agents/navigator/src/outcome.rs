//! Builds the results of calls: what the browser did, in our words, and the page's text, marked as
//! such.

mod sentence;
#[cfg(test)]
mod tests;

use lango_protocol::CallReport;
use lango_text::make_visible_short;
use serde::Serialize;

use crate::browser::LoadProgress;
use crate::error::NavigatorError;
use crate::incidents::Incidents;
use crate::page::{Outline, OutlinePart, PageText, display_address, read_status};
use crate::sessions::BrowserLease;

/// Limits how many lines of an outline come with a page. The rest is read on demand.
const MAX_OUTLINE_COUNT: usize = 80;

/// Shows the current page after an action.
#[derive(Debug, Serialize)]
pub(crate) struct PageView {
    url: String,
    title: String,
    /// The status of the server's response; none if the browser does not know it.
    status: Option<u16>,
    /// The type of a document that is not a web page.
    content_type: Option<String>,
    /// The part of the page that is loaded.
    load: LoadState,
    incidents: Incidents,
    outline: OutlinePart,
}

/// Tells how much of a page is loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum LoadState {
    Complete,
    /// Parts of it are still loading.
    Partial,
    /// It was not complete after so many seconds.
    TimedOut(u64),
}

impl PageView {
    /// Reads the current page.
    pub(crate) async fn read_current(
        lease: &BrowserLease,
        arrival: LoadProgress,
    ) -> Result<Self, NavigatorError> {
        let browser = lease.browser()?;
        let incidents = Incidents::take_from(browser).await?;
        let tab = browser.tab()?;
        let load = match arrival {
            LoadProgress::Waiting => LoadState::TimedOut(browser.timeout().as_secs()),
            LoadProgress::Loading => LoadState::Partial,
            LoadProgress::Loaded | LoadProgress::Download => LoadState::Complete,
        };
        let (mut title, mut answer, mut content_type) = (tab.title, None, None);
        if let Some(main) = browser.list_frames().await?.first()
            && let Ok(document) = read_status(browser, main).await
        {
            title = document.title;
            answer = (document.status != 0).then_some(document.status);
            content_type = Some(document.content_type).filter(|kind| kind != "text/html");
        }
        let references = lease.navigator().references();
        let outline =
            Outline::read_current(browser, references, lease.id(), lease.generation()).await?;
        let outline = outline.cut_part(0, MAX_OUTLINE_COUNT);
        Ok(Self { url: tab.url, title, status: answer, content_type, load, incidents, outline })
    }

    /// Returns the page for a model, below a line about what was done.
    pub(crate) fn render(&self, headline: &str) -> String {
        let mut text = format!("{headline}\nPage: {}", display_address(&self.url));
        if let Some(status) = self.status {
            text.push_str(&format!(", status {status}"));
        }
        if let Some(kind) = &self.content_type {
            text.push_str(&format!(", {}", make_visible_short(kind)));
        }
        text.push('\n');
        for line in &self.incidents.lines {
            text.push_str(line);
            text.push('\n');
        }
        match self.load {
            LoadState::Complete => {}
            LoadState::Partial => text.push_str("Parts of the page are still loading.\n"),
            LoadState::TimedOut(seconds) => text.push_str(&format!(
                "The page was not complete after {seconds} s. What is there so far follows; \
                 browser_wait waits for more.\n"
            )),
        }
        let mut quoted = PageText::from_url(&self.url);
        quoted.push(&format!("title: {}", self.title));
        for line in &self.incidents.quoted {
            quoted.push(line);
        }
        quoted.push(&self.outline.text);
        text.push_str(&quoted.render_marked());
        let more = self.outline.more;
        if more > 0 {
            text.push_str(&format!(
                "\n{more} more lines: browser_read with mode outline and offset \
                 {MAX_OUTLINE_COUNT}; or browser_read for the text"
            ));
        }
        text
    }
}

/// Says what was done on a page, and shows the page as it is then.
#[derive(Debug, Serialize)]
pub(crate) struct ActionOutcome {
    /// The action in words, such as "Went back."
    pub(crate) headline: String,
    pub(crate) page: PageView,
}

impl ActionOutcome {
    /// Returns the outcome for a model.
    pub(crate) fn render(&self) -> String {
        self.page.render(&self.headline)
    }
}

/// Holds text of the current page, with what happened meanwhile.
#[derive(Debug, Serialize)]
pub(crate) struct PageExcerpt {
    /// The incidents in our words.
    lines: Vec<String>,
    text: PageText,
    rest: Remainder,
}

/// Tells what there is in addition to an excerpt.
#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Remainder {
    /// The page ends with the excerpt.
    End,
    /// The page has no content of the requested kind.
    Nothing,
    /// More can be read from an offset.
    More {
        /// The amount.
        number: u64,
        /// The unit of the amount.
        unit: &'static str,
        /// The offset to continue from.
        offset: u64,
    },
}

impl Remainder {
    /// Says that so much more can be read from an offset.
    pub(crate) fn from_offset(number: u64, unit: &'static str, offset: u64) -> Self {
        if number == 0 { Self::End } else { Self::More { number, unit, offset } }
    }
}

impl PageExcerpt {
    /// Combines text of the current page with what happened meanwhile.
    pub(crate) async fn from_body(
        lease: &BrowserLease,
        body: &str,
        rest: Remainder,
    ) -> Result<Self, NavigatorError> {
        let browser = lease.browser()?;
        let incidents = Incidents::take_from(browser).await?;
        let mut text = PageText::from_url(&browser.tab()?.url);
        for line in &incidents.quoted {
            text.push(line);
        }
        text.push(body);
        Ok(Self { lines: incidents.lines, text, rest })
    }

    /// Returns the excerpt for a model.
    pub(crate) fn render(&self) -> String {
        let mut text = self.lines.join("\n");
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&self.text.render_marked());
        match &self.rest {
            Remainder::End => {}
            Remainder::Nothing => {
                text.push_str("\nThe page has no such content. Try another mode.");
            }
            Remainder::More { number, unit, offset } => {
                text.push_str(&format!("\n{number} more {unit}: read on with offset {offset}"));
            }
        }
        text
    }
}

/// Tells what happened during a call that does not show the page.
#[derive(Debug, Default, Serialize)]
pub(crate) struct IncidentReport {
    /// The lines in our words.
    lines: Vec<String>,
    /// The page's words.
    quoted: Option<PageText>,
}

impl IncidentReport {
    /// Takes what happened on the current page.
    pub(crate) async fn take_from(lease: &BrowserLease) -> Result<Self, NavigatorError> {
        let browser = lease.browser()?;
        let Incidents { lines, quoted: words } = Incidents::take_from(browser).await?;
        if words.is_empty() {
            return Ok(Self { lines, quoted: None });
        }
        let mut quoted = PageText::from_url(&browser.tab()?.url);
        for line in &words {
            quoted.push(line);
        }
        Ok(Self { lines, quoted: Some(quoted) })
    }

    /// Returns a line about the call for a model, with what happened meanwhile.
    pub(crate) fn render(&self, line: &str) -> String {
        let mut text = line.to_owned();
        for line in &self.lines {
            text.push('\n');
            text.push_str(line);
        }
        if let Some(quoted) = &self.quoted {
            text.push('\n');
            text.push_str(&quoted.render_marked());
        }
        text
    }

    /// Adds what happened meanwhile to a report.
    pub(crate) fn report(&self, report: CallReport) -> CallReport {
        let report = sentence::with_note(report, &self.lines);
        match &self.quoted {
            Some(quoted) => report.quoted(quoted.words()),
            None => report,
        }
    }

    /// Returns what happened, in our words.
    pub(crate) fn lines(&self) -> &[String] {
        &self.lines
    }
}
