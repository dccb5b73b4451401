//! Navigates to a page, and waits until there is something to read.

use std::time::Duration;

use tokio::time::Instant;

use super::Browser;
use super::state::{DocumentStage, Tab};
use crate::error::NavigatorError;
use crate::protocol::{
    CallError, Command, GetFrameTree, GetNavigationHistory, GetVersion, Navigate,
    NavigateToHistoryEntry, StopLoading,
};

/// Limits how long the pictures and scripts of a loaded document may take before it is read as it
/// is.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(3);
/// Limits how long a page may take to start something after an action.
const ACTION_TIMEOUT: Duration = Duration::from_millis(400);

/// Limits how long the browser may take to report that a navigation became a file.
const FILE_TIMEOUT: Duration = Duration::from_secs(2);

/// Tells how far a page has loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LoadProgress {
    /// All of it is loaded.
    Loaded,
    /// The document is loaded; parts of it are still loading.
    Loading,
    /// Not even the document is complete.
    Waiting,
    /// It became a download, and the page is unchanged.
    Download,
}

/// Remembers a moment, to see what happened since.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct NavigationMark {
    pub(crate) target: String,
    pub(crate) navigations: u64,
    pub(crate) url: String,
    tabs: usize,
    downloads: usize,
}

impl Browser {
    /// Opens an address in the current tab.
    pub(crate) async fn navigate(&self, url: &str) -> Result<LoadProgress, NavigatorError> {
        let deadline = Instant::now() + self.timeout();
        let tab = self.tab()?;
        let mark = self.mark_moment()?;
        self.approve_site(url);
        self.take_refused_page();
        let command = Navigate { url: url.to_owned() };
        let navigated = match self.call_within(&tab.session, command, self.timeout()).await {
            Err(NavigatorError::Call(CallError::TimedOut { .. })) => {
                // The server does not answer, or a page hangs and cannot be left.
                let _ = self.call(&tab.session, StopLoading {}).await;
                return Ok(LoadProgress::Waiting);
            }
            other => other?,
        };
        let error = navigated.error_text;
        if error.is_some()
            && let Some(page) = self.take_refused_page()
        {
            return Err(NavigatorError::OtherSite { page });
        }
        if navigated.is_download || error.as_deref() == Some("net::ERR_ABORTED") {
            // A navigation that becomes a file is aborted as a page.
            if self.wait_until(FILE_TIMEOUT, |state| state.downloads.len() != mark.downloads).await
            {
                return Ok(LoadProgress::Download);
            }
        }
        if let Some(error) = error {
            // Chromium shows its own error page; what comes next finds that page complete.
            self.wait_until(FILE_TIMEOUT, |state| {
                state.tab().is_none_or(|tab| tab.navigations > mark.navigations)
            })
            .await;
            let is_tunnel = error == "net::ERR_TUNNEL_CONNECTION_FAILED";
            let kind = if is_tunnel { NavigatorError::NoTunnel } else { NavigatorError::Failed };
            return Err(kind(explain_error_code(url, &error)));
        }
        if let Some(loader) = navigated.loader_id {
            let left = deadline.saturating_duration_since(Instant::now());
            let target = tab.target.clone();
            let arrived = self
                .wait_until(left, |state| {
                    let tab = state.tabs.iter().find(|tab| tab.target == target);
                    tab.is_none_or(|tab| {
                        tab.is_crashed
                            || (tab.loader == loader && tab.stage >= DocumentStage::Document)
                    })
                })
                .await;
            if !arrived {
                return self.report_unfinished_load();
            }
        }
        self.wait_for_rest(deadline).await
    }

    /// Goes one step back; `None` if there is no page before this one.
    pub(crate) async fn go_back(&self) -> Result<Option<LoadProgress>, NavigatorError> {
        let tab = self.tab()?;
        let history = self.call_when_shown(&tab.session, || GetNavigationHistory {}).await?;
        let Some(entry) =
            history.current_index.checked_sub(1).and_then(|index| history.entries.get(index))
        else {
            return Ok(None);
        };
        if !entry.url.starts_with("http") {
            return Ok(None);
        }
        let mark = self.mark_moment()?;
        self.call(&tab.session, NavigateToHistoryEntry { entry_id: entry.id }).await?;
        // Within a document there is no new one: only the address changes.
        let begun = self
            .wait_until(self.timeout(), |state| {
                state
                    .tab()
                    .is_none_or(|tab| tab.navigations > mark.navigations || tab.url != mark.url)
            })
            .await;
        if !begun {
            return Ok(Some(LoadProgress::Waiting));
        }
        self.wait_for_rest(Instant::now() + self.timeout()).await.map(Some)
    }

    /// Calls a tab that may be between two documents, when there is none to answer.
    pub(super) async fn call_when_shown<C: Command>(
        &self,
        session: &str,
        command: impl Fn() -> C,
    ) -> Result<C::Reply, NavigatorError> {
        let mut tries = 0;
        loop {
            match self.call(session, command()).await {
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

    /// Returns the present moment.
    pub(crate) fn mark_moment(&self) -> Result<NavigationMark, NavigatorError> {
        let tab = self.tab()?;
        Ok(self.read_state(|state| NavigationMark {
            target: tab.target,
            navigations: tab.navigations,
            url: tab.url,
            tabs: state.tabs.len(),
            downloads: state.downloads.len(),
        }))
    }

    /// Waits for what an action may have started.
    pub(crate) async fn wait_for_reaction(
        &self,
        mark: &NavigationMark,
    ) -> Result<LoadProgress, NavigatorError> {
        // Messages that are queued are processed before the wait begins: on a busy machine that
        // takes longer than the wait. A page that does not answer is navigating away, or hangs,
        // which is detected later.
        let _ = self.call_within(&self.tab()?.session, GetFrameTree {}, FILE_TIMEOUT).await;
        self.call_browser(GetVersion {}).await?;
        let has_navigated = |tab: &Tab| {
            tab.target != mark.target || tab.navigations > mark.navigations || tab.url != mark.url
        };
        let began = self
            .wait_until(ACTION_TIMEOUT, |state| {
                state.tab().is_none_or(|tab| tab.is_leaving || has_navigated(tab))
                    || state.tabs.len() != mark.tabs
                    || state.downloads.len() != mark.downloads
            })
            .await;
        if !began {
            return Ok(LoadProgress::Loaded);
        }
        let deadline = Instant::now() + self.timeout();
        let ready = self
            .wait_until(self.timeout(), |state| {
                state.tab().is_none_or(|tab| {
                    let is_blank = tab.target != mark.target && tab.url == "about:blank";
                    tab.is_crashed
                        || (tab.is_ready
                            && !tab.is_leaving
                            && (tab.stage >= DocumentStage::Document || is_blank))
                })
            })
            .await;
        if !ready {
            return self.report_unfinished_load();
        }
        if !self.read_state(|state| state.tab().is_none_or(has_navigated)) {
            // It was loading and did not arrive: mostly a file.
            self.wait_until(FILE_TIMEOUT, |state| state.downloads.len() != mark.downloads).await;
        }
        self.wait_for_rest(deadline).await
    }

    /// Waits a little for the rest of a loaded document.
    async fn wait_for_rest(&self, deadline: Instant) -> Result<LoadProgress, NavigatorError> {
        let left = deadline.saturating_duration_since(Instant::now()).min(SETTLE_TIMEOUT);
        let done = self
            .wait_until(left, |state| {
                state.tab().is_none_or(|tab| tab.stage == DocumentStage::Loaded || tab.is_crashed)
            })
            .await;
        if self.is_gone() {
            return Err(NavigatorError::Ended);
        }
        let tab = self.tab()?;
        match (done, tab.is_crashed) {
            (_, true) => Err(NavigatorError::Crashed),
            (true, _) => Ok(LoadProgress::Loaded),
            (false, _) if tab.stage >= DocumentStage::Document => Ok(LoadProgress::Loading),
            (false, _) => Ok(LoadProgress::Waiting),
        }
    }

    fn report_unfinished_load(&self) -> Result<LoadProgress, NavigatorError> {
        if self.is_gone() {
            return Err(NavigatorError::Ended);
        }
        Ok(LoadProgress::Waiting)
    }
}

/// Explains Chromium's error codes.
fn explain_error_code(url: &str, code: &str) -> String {
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
