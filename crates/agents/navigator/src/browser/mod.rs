//! Runs a browser with its proxy, its directory and its tabs: starts it, inspects it, ends it.

mod frames;
mod navigate;
mod state;
mod watcher;

use std::path::{Path, PathBuf};
use std::time::Duration;

use lango_egress::{BlockedRequest, Proxy, Site};
use tempfile::TempDir;
use tokio::sync::watch;

use crate::NavigatorSettings;
use crate::chromium::{self, ChromiumProcess, StartOptions};
use crate::error::NavigatorError;
use crate::protocol::{
    CallError, CloseBrowser, Command, Connection, CreateTarget, DisableFetch, EnableFetch,
    GetVersion, Navigate, ResetNavigationHistory, SetDiscoverTargets, SetDownloadBehavior,
};

pub(crate) use frames::FrameReference;
pub(crate) use navigate::{LoadProgress, NavigationMark};
pub(crate) use state::{BrowserState, Download, DownloadState, PageNote, Tab};

/// The page of the proxy, which asks for its password.
const PROXY_PAGE: &str = "http://proxy.lango.invalid/";
/// Limits how long Chromium may take to start, on a machine that is busy with other things.
const START_TIMEOUT: Duration = Duration::from_mins(1);
/// Limits how long one answer may take that does not depend on the network.
pub(crate) const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);
/// Limits how long Chromium may take to end by itself.
const END_TIMEOUT: Duration = Duration::from_secs(10);

/// Owns a running browser. It ends, with all its processes and its directory, when this is dropped;
/// with [`Browser::close`] it has ended when that returns.
pub(crate) struct Browser {
    connection: Connection,
    process: ChromiumProcess,
    proxy: Proxy,
    state: watch::Sender<BrowserState>,
    downloads: PathBuf,
    timeout: Duration,
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.connection.close();
    }
}

impl Browser {
    /// Starts a browser that puts its downloads into `downloads`.
    pub(crate) async fn start(
        settings: &NavigatorSettings,
        downloads: PathBuf,
    ) -> Result<Self, NavigatorError> {
        let program =
            chromium::find(settings.chromium.as_deref(), std::env::var_os("PATH").as_deref())?;
        let home = create_temporary_home()?;
        let profile = match &settings.profile {
            Some(kept) => kept.clone(),
            None => home.path().join("p"),
        };
        create_private_directory(&profile)?;
        create_private_directory(&downloads)?;
        let proxy = Proxy::start(settings.guard.clone(), settings.proxy.clone())
            .await
            .map_err(NavigatorError::NoProxy)?;
        let arguments = chromium::build_arguments(&StartOptions {
            profile: &profile,
            proxy_port: proxy.port(),
            headless: settings.headless,
            without_sandbox: chromium::runs_without_sandbox(),
        });
        let did_not_start = |reason: String, words: String| NavigatorError::DidNotStart {
            program: program.display().to_string(),
            reason,
            words: if words.is_empty() { words } else { format!(". It said:\n{words}") },
        };
        let (mut process, from, to) = ChromiumProcess::start(&program, &arguments, home.path())
            .map_err(|error| did_not_start(error.to_string(), String::new()))?;
        // From here on its keeper removes it, even if this process cannot.
        let _ = home.keep();
        let (connection, events) = Connection::open(from, to);
        let version = tokio::select! {
            version = connection.call(None, &GetVersion {}, START_TIMEOUT) => version,
            () = process.wait() => Err(CallError::Gone),
        };
        if let Err(error) = version {
            connection.close();
            process.end(END_TIMEOUT).await;
            let reason = match error {
                CallError::Gone => "it ended at once".to_owned(),
                other => other.to_string(),
            };
            return Err(did_not_start(reason, process.last_output().await));
        }
        let largest_download = settings.download_bytes;
        let (state, _) =
            watch::channel(BrowserState { largest_download, ..BrowserState::default() });
        let credentials = proxy.credentials().clone();
        tokio::spawn(watcher::follow_browser(
            connection.clone(),
            events,
            state.clone(),
            credentials,
        ));
        let timeout = settings.timeout;
        let browser = Self { connection, process, proxy, state, downloads, timeout };
        browser.set_up().await?;
        Ok(browser)
    }

    async fn set_up(&self) -> Result<(), NavigatorError> {
        self.call_browser(SetDiscoverTargets { discover: true }).await?;
        self.call_browser(SetDownloadBehavior {
            behavior: "allowAndName",
            download_path: self.downloads.display().to_string(),
            events_enabled: true,
        })
        .await?;
        self.call_browser(watcher::attach_command("page")).await?;
        if !self.wait_until(Duration::from_secs(5), |state| state.tab().is_some()).await {
            self.call_browser(CreateTarget { url: "about:blank".to_owned() }).await?;
        }
        if !self
            .wait_until(START_TIMEOUT, |state| state.tab().is_some_and(|tab| tab.is_ready))
            .await
        {
            return Err(NavigatorError::Failed("the browser has no tab".to_owned()));
        }
        self.authenticate().await
    }

    /// Gives the browser the password of the proxy, once: it caches it for all its connections.
    async fn authenticate(&self) -> Result<(), NavigatorError> {
        let tab = self.tab()?;
        let watch_all = EnableFetch { handle_auth_requests: true, patterns: None };
        self.call(&tab.session, watch_all).await?;
        let own = Navigate { url: PROXY_PAGE.to_owned() };
        self.approve_site(PROXY_PAGE);
        let navigated = self.call(&tab.session, own).await?;
        if let Some(error) = navigated.error_text {
            let error = format!("the browser does not accept its proxy: {error}");
            return Err(NavigatorError::Failed(error));
        }
        self.call(&tab.session, DisableFetch {}).await?;
        self.call(&tab.session, watcher::watch_documents_command()).await?;
        // Only a page that is shown has a history to clear.
        self.navigate("about:blank").await?;
        self.call_when_shown(&tab.session, || ResetNavigationHistory {}).await?;
        self.proxy.take_blocked();
        Ok(())
    }

    /// Tells whether it has ended.
    pub(crate) fn is_gone(&self) -> bool {
        self.connection.gone().is_cancelled()
    }

    /// Returns the process group of the browser.
    pub(crate) fn process_group(&self) -> Option<u32> {
        self.process.id()
    }

    /// Ends it, and waits until it is gone.
    pub(crate) async fn close(mut self) {
        if !self.is_gone() {
            // A regular close comes first: it writes out a persistent profile. Closing the pipe
            // does the rest.
            let _ = self.connection.call(None, &CloseBrowser {}, Duration::from_secs(3)).await;
        }
        self.connection.close();
        self.process.end(END_TIMEOUT).await;
    }

    /// Calls the browser itself.
    pub(crate) async fn call_browser<C: Command>(
        &self,
        command: C,
    ) -> Result<C::Reply, NavigatorError> {
        Ok(self.connection.call(None, &command, ANSWER_TIMEOUT).await?)
    }

    /// Calls a tab or a frame by its session.
    pub(crate) async fn call<C: Command>(
        &self,
        session: &str,
        command: C,
    ) -> Result<C::Reply, NavigatorError> {
        self.call_within(session, command, ANSWER_TIMEOUT).await
    }

    /// Calls a tab or a frame with its own timeout.
    pub(crate) async fn call_within<C: Command>(
        &self,
        session: &str,
        command: C,
        limit: Duration,
    ) -> Result<C::Reply, NavigatorError> {
        Ok(self.connection.call(Some(session), &command, limit).await?)
    }

    /// Lets pages of a site be shown, because a question or a rule was about it.
    pub(crate) fn approve_site(&self, url: &str) {
        self.state.send_modify(|state| state.sites.extend(Site::of(url)));
    }

    /// Returns the page that was not shown since the last call because its site was not agreed to.
    pub(crate) fn take_refused_page(&self) -> Option<String> {
        let mut refused = None;
        self.state.send_modify(|state| refused = state.refused_page.take());
        refused
    }

    /// Returns how long a page may take.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// Returns the current tab.
    pub(crate) fn tab(&self) -> Result<Tab, NavigatorError> {
        if self.is_gone() {
            return Err(NavigatorError::Ended);
        }
        self.state.borrow().tab().cloned().ok_or(NavigatorError::NoPage)
    }

    /// Returns the number of tabs.
    pub(crate) fn count_tabs(&self) -> usize {
        self.state.borrow().tabs.len()
    }

    /// Reads the known state.
    pub(crate) fn read_state<T>(&self, at: impl FnOnce(&BrowserState) -> T) -> T {
        at(&self.state.borrow())
    }

    /// Waits until a condition holds; `false` when the time is over or the browser is gone.
    pub(crate) async fn wait_until(
        &self,
        limit: Duration,
        holds: impl FnMut(&BrowserState) -> bool,
    ) -> bool {
        let mut state = self.state.subscribe();
        let waiting = tokio::time::timeout(limit, state.wait_for(holds));
        tokio::select! {
            lease = waiting => lease.is_ok_and(|state| state.is_ok()),
            () = self.connection.gone().cancelled() => false,
        }
    }

    /// Returns what happened since the last call.
    pub(crate) fn take_notes(&self) -> Vec<PageNote> {
        let mut notes = Vec::new();
        self.state.send_if_modified(|state| {
            notes = std::mem::take(&mut state.notes);
            false
        });
        notes
    }

    /// Returns the requests that were refused since the last call.
    pub(crate) fn take_blocked(&self) -> Vec<BlockedRequest> {
        self.proxy.take_blocked()
    }

    /// Puts back requests that were taken and are still to be reported.
    pub(crate) fn return_blocked_requests(&self, blocked: Vec<BlockedRequest>) {
        self.proxy.restore_blocked(blocked);
    }

    /// Returns the downloads that ended or were stopped and have not been reported, by id.
    pub(crate) fn take_downloads(&self) -> Vec<(String, Download)> {
        let mut found = Vec::new();
        self.state.send_if_modified(|state| {
            for (guid, download) in &mut state.downloads {
                let has_ended = download.state != DownloadState::Running;
                if has_ended && !download.was_reported {
                    download.was_reported = true;
                    found.push((guid.clone(), download.clone()));
                }
            }
            false
        });
        found
    }

    /// Returns the directory of its downloads.
    pub(crate) fn downloads(&self) -> &Path {
        &self.downloads
    }
}

/// Creates a private directory for a browser. Its path is short, because Chromium puts a socket in
/// it.
fn create_temporary_home() -> Result<TempDir, NavigatorError> {
    let created = tempfile::Builder::new().prefix("lango-browser-").tempdir();
    created.map_err(|error| NavigatorError::NoDirectory {
        place: std::env::temp_dir().display().to_string(),
        reason: format!("there is no room for a browser profile: {error}"),
    })
}

pub(crate) fn create_private_directory(path: &Path) -> Result<(), NavigatorError> {
    use std::os::unix::fs::DirBuilderExt as _;
    let created = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    created.map_err(|error| NavigatorError::NoDirectory {
        place: path.display().to_string(),
        reason: format!("the directory {} cannot be made: {error}", path.display()),
    })
}
