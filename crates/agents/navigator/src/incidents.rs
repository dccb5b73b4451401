//! Reports what happened in the browser in addition to what a call asked for.

use std::time::Duration;

use lango_egress::BlockedRequest;
use lango_text::make_visible_short;
use serde::Serialize;

use crate::browser::{Browser, Download, DownloadState, PageNote};
use crate::error::NavigatorError;
use crate::page::display_address;
use crate::storage;

/// Limits how many refused requests are named.
const MAX_NAMED_COUNT: usize = 10;
/// Limits how long a call waits for a download to end.
const DOWNLOAD_TIMEOUT: Duration = Duration::from_secs(20);

/// Holds everything that happened in addition to what was asked for.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Incidents {
    /// The lines in our words.
    pub(crate) lines: Vec<String>,
    /// The lines in the page's words.
    pub(crate) quoted: Vec<String>,
}

impl Incidents {
    /// Takes what happened in a browser since the last call.
    pub(crate) async fn take_from(browser: &Browser) -> Result<Self, NavigatorError> {
        let mut incidents = Self::default();
        for note in browser.take_notes() {
            incidents.add_note(note);
        }
        incidents.add_blocked(&browser.take_blocked());
        let running = |state: &crate::browser::BrowserState| {
            state.downloads.values().all(|download| download.state != DownloadState::Running)
        };
        if !browser.read_state(running) && !browser.wait_until(DOWNLOAD_TIMEOUT, running).await {
            incidents.lines.push("A download is still running.".to_owned());
        }
        for (id, download) in browser.take_downloads() {
            incidents.add_download(browser, &id, &download)?;
        }
        Ok(incidents)
    }

    fn add_note(&mut self, note: PageNote) {
        match note {
            PageNote::NewTab => self.lines.push("A new tab opened; it is the page now.".to_owned()),
            PageNote::TooManyTabs => {
                self.lines.push("The page opened too many tabs; one was closed.".to_owned());
            }
            PageNote::TabClosed => {
                self.lines.push("The tab closed; the one before it is the page now.".to_owned());
            }
            PageNote::Dialog { kind, message, accepted } => {
                let kind = make_visible_short(&kind);
                let answer = if accepted { "accepted" } else { "dismissed" };
                self.lines.push(format!("A dialog ({kind}) came up and was {answer}."));
                self.quoted.push(format!("dialog: {message}"));
            }
            PageNote::FileChooser => self
                .lines
                .push("The page asked for a file; files are not given to pages.".to_owned()),
            PageNote::OtherSite { url } => {
                let url = display_address(&url);
                self.lines.push(format!(
                    "Not shown: {url} (another site than the one that was asked about; to go \
                     there, call browser_navigate with its address)"
                ));
            }
            PageNote::Scheme { url } => {
                let url = display_address(&url);
                self.lines.push(format!("Blocked: {url} (only http and https pages are shown)"));
            }
        }
    }

    fn add_blocked(&mut self, blocked: &[BlockedRequest]) {
        let mut named: Vec<String> = Vec::new();
        for one in blocked {
            let target = if one.target.contains("://") {
                display_address(&one.target)
            } else {
                make_visible_short(&one.target)
            };
            let line = format!("Blocked: {target} ({})", one.reason);
            if !named.contains(&line) {
                named.push(line);
            }
        }
        let more = named.len().saturating_sub(MAX_NAMED_COUNT);
        named.truncate(MAX_NAMED_COUNT);
        self.lines.append(&mut named);
        if more > 0 {
            self.lines.push(format!("Blocked: {more} more requests"));
        }
    }

    fn add_download(
        &mut self,
        browser: &Browser,
        id: &str,
        download: &Download,
    ) -> Result<(), NavigatorError> {
        let from = display_address(&download.url);
        let line = match download.state {
            DownloadState::Running => return Ok(()),
            DownloadState::Completed => {
                let (path, bytes) =
                    storage::store_download(browser.downloads(), id, &download.name)?;
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
