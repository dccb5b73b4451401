//! Going to a page, and waiting until there is something to read.

use std::time::Duration;

use tokio::time::Instant;

use super::Browser;
use super::state::{Stage, Tab};
use crate::error::NavigatorError;
use crate::protocol::{
    CallError, Command, GetFrameTree, GetNavigationHistory, GetVersion, Navigate,
    NavigateToHistoryEntry, StopLoading,
};

/// After the document is there: how long its pictures and scripts may take before it is looked at
/// as it is.
const SETTLE_TIME: Duration = Duration::from_secs(3);
/// After an action: how long a page may take to begin something.
const BEGIN_TIME: Duration = Duration::from_millis(400);

/// How long the browser may take to say that a navigation became a file.
const FILE_TIME: Duration = Duration::from_secs(2);

/// How far a page has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// All of it is there.
    Loaded,
    /// The document is there; parts of it are still on their way.
    Loading,
    /// Not even the document is complete.
    Waiting,
    /// It became a download, and the page is what it was.
    Download,
}

/// A moment, to see what happened since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) target: String,
    pub(crate) navigations: u64,
    pub(crate) url: String,
    tabs: usize,
    downloads: usize,
}

impl Browser {
    /// Opens an address in the current tab.
    pub(crate) async fn navigate(&self, url: &str) -> Result<Arrival, NavigatorError> {
        let deadline = Instant::now() + self.timeout();
        let tab = self.tab()?;
        let mark = self.mark()?;
        let command = Navigate { url: url.to_owned() };
        let navigated = match self.tell_within(&tab.session, command, self.timeout()).await {
            Err(NavigatorError::Call(CallError::TimedOut { .. })) => {
                // No answer from the server, or a page that hangs and cannot be left.
                let _ = self.tell(&tab.session, StopLoading {}).await;
                return Ok(Arrival::Waiting);
            }
            other => other?,
        };
        let error = navigated.error_text;
        if navigated.is_download || error.as_deref() == Some("net::ERR_ABORTED") {
            // What becomes a file is broken off as a page.
            if self.wait(FILE_TIME, |state| state.downloads.len() != mark.downloads).await {
                return Ok(Arrival::Download);
            }
        }
        if let Some(error) = error {
            // Chromium shows a page of its own about it; what comes next finds that page complete.
            self.wait(FILE_TIME, |state| {
                state.tab().is_none_or(|tab| tab.navigations > mark.navigations)
            })
            .await;
            let is_tunnel = error == "net::ERR_TUNNEL_CONNECTION_FAILED";
            let kind = if is_tunnel { NavigatorError::NoTunnel } else { NavigatorError::Failed };
            return Err(kind(explain(url, &error)));
        }
        if let Some(loader) = navigated.loader_id {
            let left = deadline.saturating_duration_since(Instant::now());
            let target = tab.target.clone();
            let arrived = self
                .wait(left, |state| {
                    let tab = state.tabs.iter().find(|tab| tab.target == target);
                    tab.is_none_or(|tab| {
                        tab.is_crashed || (tab.loader == loader && tab.stage >= Stage::Document)
                    })
                })
                .await;
            if !arrived {
                return self.still_waiting();
            }
        }
        self.arrive(deadline).await
    }

    /// One step back; `false` where there is nothing before this page.
    pub(crate) async fn back(&self) -> Result<Option<Arrival>, NavigatorError> {
        let tab = self.tab()?;
        let history = self.tell_shown(&tab.session, || GetNavigationHistory {}).await?;
        let Some(entry) =
            history.current_index.checked_sub(1).and_then(|index| history.entries.get(index))
        else {
            return Ok(None);
        };
        if !entry.url.starts_with("http") {
            return Ok(None);
        }
        let mark = self.mark()?;
        self.tell(&tab.session, NavigateToHistoryEntry { entry_id: entry.id }).await?;
        // Within a document there is no new one: the address is all that changes.
        let begun = self
            .wait(self.timeout(), |state| {
                state
                    .tab()
                    .is_none_or(|tab| tab.navigations > mark.navigations || tab.url != mark.url)
            })
            .await;
        if !begun {
            return Ok(Some(Arrival::Waiting));
        }
        self.arrive(Instant::now() + self.timeout()).await.map(Some)
    }

    /// Calls a tab that may be between two documents, when nobody is there to answer.
    pub(super) async fn tell_shown<C: Command>(
        &self,
        session: &str,
        command: impl Fn() -> C,
    ) -> Result<C::Reply, NavigatorError> {
        let mut tries = 0;
        loop {
            match self.tell(session, command()).await {
                Err(NavigatorError::Call(CallError::Refused(reason)))
                    if tries < 50 && reason.contains("Not attached to an active page") =>
                {
                    tries += 1;
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                other => return other,
            }
        }
    }

    /// The moment now.
    pub(crate) fn mark(&self) -> Result<Mark, NavigatorError> {
        let tab = self.tab()?;
        Ok(self.look(|state| Mark {
            target: tab.target,
            navigations: tab.navigations,
            url: tab.url,
            tabs: state.tabs.len(),
            downloads: state.downloads.len(),
        }))
    }

    /// Waits for what an action may have begun.
    pub(crate) async fn settle(&self, mark: &Mark) -> Result<Arrival, NavigatorError> {
        // What the page and the browser had to say until now is heard before the waiting begins:
        // on a busy machine that takes longer than the waiting. A page that does not answer is on
        // its way elsewhere, or hangs and will be found out.
        let _ = self.tell_within(&self.tab()?.session, GetFrameTree {}, FILE_TIME).await;
        self.ask(GetVersion {}).await?;
        let is_elsewhere = |tab: &Tab| {
            tab.target != mark.target || tab.navigations > mark.navigations || tab.url != mark.url
        };
        let began = self
            .wait(BEGIN_TIME, |state| {
                state.tab().is_none_or(|tab| tab.is_leaving || is_elsewhere(tab))
                    || state.tabs.len() != mark.tabs
                    || state.downloads.len() != mark.downloads
            })
            .await;
        if !began {
            return Ok(Arrival::Loaded);
        }
        let deadline = Instant::now() + self.timeout();
        let ready = self
            .wait(self.timeout(), |state| {
                state.tab().is_none_or(|tab| {
                    let is_blank = tab.target != mark.target && tab.url == "about:blank";
                    tab.is_crashed
                        || (tab.is_ready
                            && !tab.is_leaving
                            && (tab.stage >= Stage::Document || is_blank))
                })
            })
            .await;
        if !ready {
            return self.still_waiting();
        }
        if !self.look(|state| state.tab().is_none_or(is_elsewhere)) {
            // It was on its way and did not arrive: a file, most often.
            self.wait(FILE_TIME, |state| state.downloads.len() != mark.downloads).await;
        }
        self.arrive(deadline).await
    }

    /// The document is there: waits a little for the rest.
    async fn arrive(&self, deadline: Instant) -> Result<Arrival, NavigatorError> {
        let left = deadline.saturating_duration_since(Instant::now()).min(SETTLE_TIME);
        let done = self
            .wait(left, |state| {
                state.tab().is_none_or(|tab| tab.stage == Stage::Loaded || tab.is_crashed)
            })
            .await;
        if self.is_gone() {
            return Err(NavigatorError::Ended);
        }
        let tab = self.tab()?;
        match (done, tab.is_crashed) {
            (_, true) => Err(NavigatorError::Crashed),
            (true, _) => Ok(Arrival::Loaded),
            (false, _) if tab.stage >= Stage::Document => Ok(Arrival::Loading),
            (false, _) => Ok(Arrival::Waiting),
        }
    }

    fn still_waiting(&self) -> Result<Arrival, NavigatorError> {
        if self.is_gone() {
            return Err(NavigatorError::Ended);
        }
        Ok(Arrival::Waiting)
    }
}

/// Chromium's codes in words.
fn explain(url: &str, code: &str) -> String {
    let reason = match code {
        "net::ERR_TUNNEL_CONNECTION_FAILED" => "no connection to that host",
        "net::ERR_EMPTY_RESPONSE" => "the server closed the connection without an answer",
        "net::ERR_CERT_AUTHORITY_INVALID"
        | "net::ERR_CERT_COMMON_NAME_INVALID"
        | "net::ERR_CERT_DATE_INVALID" => "its certificate is not valid",
        "net::ERR_TOO_MANY_REDIRECTS" => "it redirects in circles",
        "net::ERR_UNSAFE_PORT" => "browsers do not open that port",
        "net::ERR_ABORTED" => "the page broke off the navigation, or has no content",
        _ => "",
    };
    let code = code.trim_start_matches("net::");
    if reason.is_empty() {
        format!("{url} cannot be opened: {code}")
    } else {
        format!("{url} cannot be opened: {reason} ({code})")
    }
}
