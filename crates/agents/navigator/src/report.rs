//! What a call tells the model: what happened, in our words, and the page, marked as the page's.

use std::time::Duration;

use lango_egress::Blocked;
use lango_tool::visible_short;
use serde::Serialize;

use crate::browser::{Arrival, Browser, Download, DownloadState, Note};
use crate::error::NavigatorError;
use crate::page::{Outline, PageText, place_of, status};
use crate::sessions::Held;
use crate::storage;

/// Lines of an outline that come with a page. The rest is read on demand.
const OUTLINE_LINES: usize = 80;
/// Refused requests that are named.
const NAMED: usize = 10;
/// How long a report waits for a download to end.
const DOWNLOAD_TIME: Duration = Duration::from_secs(20);

/// The result of a call.
#[derive(Debug, Serialize)]
pub(crate) struct Report(pub(crate) String);

/// Everything that happened beside what was asked for.
#[derive(Default)]
struct Happened {
    /// In our words.
    lines: Vec<String>,
    /// In the page's.
    quoted: Vec<String>,
}

/// The current page after an action: `headline`, what else happened, title and outline.
pub(crate) async fn page(
    held: &Held,
    headline: &str,
    arrival: Arrival,
) -> Result<Report, NavigatorError> {
    let browser = held.browser()?;
    let mut happened = happened(browser).await?;
    let tab = browser.tab()?;
    if arrival == Arrival::Waiting {
        let seconds = browser.timeout().as_secs();
        happened.lines.push(format!(
            "The page was not complete after {seconds} s. What is there so far follows; \
             browser_wait waits for more."
        ));
    } else if arrival == Arrival::Loading {
        happened.lines.push("Parts of the page are still loading.".to_owned());
    }
    let mut title = tab.title;
    let mut text = format!("{headline}\n");
    text.push_str(&format!("Page: {}", place_of(&tab.url)));
    if let Some(main) = browser.frames().await?.first()
        && let Ok(status) = status(browser, main).await
    {
        title = status.title;
        if status.status != 0 {
            text.push_str(&format!(", status {}", status.status));
        }
        if status.content_type != "text/html" {
            text.push_str(&format!(", {}", visible_short(&status.content_type)));
        }
    }
    text.push('\n');
    for line in &happened.lines {
        text.push_str(line);
        text.push('\n');
    }
    let references = held.navigator().references();
    let outline = Outline::of(browser, references, held.id(), held.generation()).await?;
    let (part, more) = outline.part(0, OUTLINE_LINES);
    let mut quoted = PageText::of(&tab.url);
    quoted.push(&format!("title: {title}"));
    for line in &happened.quoted {
        quoted.push(line);
    }
    quoted.push(&part);
    text.push_str(&quoted.marked());
    if more > 0 {
        text.push_str(&format!(
            "\n{more} more lines: browser_read with mode outline and offset {OUTLINE_LINES}; or \
             browser_read for the text"
        ));
    }
    Ok(Report(text))
}

/// Text of the current page behind what happened meanwhile.
pub(crate) async fn text(held: &Held, body: &str, after: &str) -> Result<Report, NavigatorError> {
    let browser = held.browser()?;
    let happened = happened(browser).await?;
    let mut quoted = PageText::of(&browser.tab()?.url);
    for line in &happened.quoted {
        quoted.push(line);
    }
    quoted.push(body);
    let mut text = happened.lines.join("\n");
    if !text.is_empty() {
        text.push('\n');
    }
    text.push_str(&quoted.marked());
    if !after.is_empty() {
        text.push('\n');
        text.push_str(after);
    }
    Ok(Report(text))
}

/// A line of ours, with what happened meanwhile.
pub(crate) async fn line(held: &Held, line: &str) -> Result<Report, NavigatorError> {
    let browser = held.browser()?;
    let happened = happened(browser).await?;
    let mut text = [vec![line.to_owned()], happened.lines].concat().join("\n");
    if !happened.quoted.is_empty() {
        let mut quoted = PageText::of(&browser.tab()?.url);
        happened.quoted.iter().for_each(|line| quoted.push(line));
        text = format!("{text}\n{}", quoted.marked());
    }
    Ok(Report(text))
}

async fn happened(browser: &Browser) -> Result<Happened, NavigatorError> {
    let mut happened = Happened::default();
    for note in browser.take_notes() {
        happened.add(note);
    }
    happened.blocked(&browser.take_blocked());
    let running = |state: &crate::browser::State| {
        state.downloads.values().all(|download| download.state != DownloadState::Running)
    };
    if !browser.look(running) && !browser.wait(DOWNLOAD_TIME, running).await {
        happened.lines.push("A download is still running.".to_owned());
    }
    for (id, download) in browser.take_downloads() {
        happened.download(browser, &id, &download)?;
    }
    Ok(happened)
}

impl Happened {
    fn add(&mut self, note: Note) {
        match note {
            Note::NewTab => self.lines.push("A new tab opened; it is the page now.".to_owned()),
            Note::TooManyTabs => {
                self.lines.push("The page opened too many tabs; one was closed.".to_owned());
            }
            Note::TabClosed => {
                self.lines.push("The tab closed; the one before it is the page now.".to_owned());
            }
            Note::Dialog { kind, message, accepted } => {
                let kind = visible_short(&kind);
                let answer = if accepted { "accepted" } else { "dismissed" };
                self.lines.push(format!("A dialog ({kind}) came up and was {answer}."));
                self.quoted.push(format!("dialog: {message}"));
            }
            Note::FileChooser => self
                .lines
                .push("The page asked for a file; files are not given to pages.".to_owned()),
            Note::Scheme { url } => {
                let url = place_of(&url);
                self.lines.push(format!("Blocked: {url} (only http and https pages are shown)"));
            }
        }
    }

    fn blocked(&mut self, blocked: &[Blocked]) {
        let mut named: Vec<String> = Vec::new();
        for one in blocked {
            let target = if one.target.contains("://") {
                place_of(&one.target)
            } else {
                visible_short(&one.target)
            };
            let line = format!("Blocked: {target} ({})", one.reason);
            if !named.contains(&line) {
                named.push(line);
            }
        }
        let more = named.len().saturating_sub(NAMED);
        named.truncate(NAMED);
        self.lines.append(&mut named);
        if more > 0 {
            self.lines.push(format!("Blocked: {more} more requests"));
        }
    }

    fn download(
        &mut self,
        browser: &Browser,
        id: &str,
        download: &Download,
    ) -> Result<(), NavigatorError> {
        let from = place_of(&download.url);
        let line = match download.state {
            DownloadState::Running => return Ok(()),
            DownloadState::Completed => {
                let (path, bytes) =
                    storage::keep_download(browser.downloads(), id, &download.name)?;
                format!("Downloaded {from}: {} ({bytes} bytes)", path.display())
            }
            DownloadState::Cancelled => format!("The download of {from} was broken off."),
            DownloadState::TooLarge => format!(
                "The download of {from} is too large and was stopped. To allow more: lango config \
                 set navigator.downloadMegabytes 500"
            ),
        };
        self.lines.push(line);
        Ok(())
    }
}
