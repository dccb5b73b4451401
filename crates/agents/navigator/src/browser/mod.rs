//! A running browser with its proxy, its directory and its tabs: start, look, end.

mod frames;
mod navigate;
mod state;
mod watcher;

use std::path::{Path, PathBuf};
use std::time::Duration;

use lango_egress::{Blocked, Proxy};
use tempfile::TempDir;
use tokio::sync::watch;

use crate::NavigatorSettings;
use crate::chromium::{self, Process, Start};
use crate::error::NavigatorError;
use crate::protocol::{
    CallError, CloseBrowser, Command, Connection, CreateTarget, DisableFetch, EnableFetch,
    GetVersion, Navigate, ResetNavigationHistory, SetDiscoverTargets, SetDownloadBehavior,
};

pub(crate) use frames::FrameReference;
pub(crate) use navigate::{Arrival, Mark};
pub(crate) use state::{Download, DownloadState, Note, State, Tab};

/// How long Chromium may take to start, on a machine that is busy with other things.
const START_TIME: Duration = Duration::from_mins(1);
/// How long one answer may take that does not depend on the network.
pub(crate) const ANSWER_TIME: Duration = Duration::from_secs(15);
/// How long Chromium may take to end by itself.
const END_TIME: Duration = Duration::from_secs(10);

/// A running browser. Ends, with all its processes and its directory, when it is dropped; with
/// [`Browser::close`] it has ended when that returns.
pub(crate) struct Browser {
    connection: Connection,
    process: Process,
    proxy: Proxy,
    state: watch::Sender<State>,
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
        let home = temporary_home()?;
        let profile = match &settings.profile {
            Some(kept) => kept.clone(),
            None => home.path().join("p"),
        };
        private_directory(&profile)?;
        private_directory(&downloads)?;
        let proxy = Proxy::start(settings.guard.clone(), settings.proxy.clone())
            .await
            .map_err(NavigatorError::NoProxy)?;
        let arguments = chromium::arguments(&Start {
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
        let (mut process, from, to) = Process::start(&program, &arguments, home.path())
            .map_err(|error| did_not_start(error.to_string(), String::new()))?;
        // From here on its keeper removes it, also when we cannot.
        let _ = home.keep();
        let (connection, events) = Connection::open(from, to);
        let version = tokio::select! {
            version = connection.call(None, &GetVersion {}, START_TIME) => version,
            () = process.wait() => Err(CallError::Gone),
        };
        if let Err(error) = version {
            connection.close();
            process.end(END_TIME).await;
            let reason = match error {
                CallError::Gone => "it ended at once".to_owned(),
                other => other.to_string(),
            };
            return Err(did_not_start(reason, process.last_words().await));
        }
        let largest_download = settings.download_bytes;
        let (state, _) = watch::channel(State { largest_download, ..State::default() });
        let credentials = proxy.credentials().clone();
        tokio::spawn(watcher::follow(connection.clone(), events, state.clone(), credentials));
        let timeout = settings.timeout;
        let browser = Self { connection, process, proxy, state, downloads, timeout };
        browser.set_up().await?;
        Ok(browser)
    }

    async fn set_up(&self) -> Result<(), NavigatorError> {
        self.ask(SetDiscoverTargets { discover: true }).await?;
        self.ask(SetDownloadBehavior {
            behavior: "allowAndName",
            download_path: self.downloads.display().to_string(),
            events_enabled: true,
        })
        .await?;
        self.ask(watcher::attach_to("page")).await?;
        if !self.wait(Duration::from_secs(5), |state| state.tab().is_some()).await {
            self.ask(CreateTarget { url: "about:blank".to_owned() }).await?;
        }
        if !self.wait(START_TIME, |state| state.tab().is_some_and(|tab| tab.is_ready)).await {
            return Err(NavigatorError::Failed("the browser has no tab".to_owned()));
        }
        self.authenticate().await
    }

    /// Tells the browser the password of the proxy, once: it remembers it for all its connections.
    async fn authenticate(&self) -> Result<(), NavigatorError> {
        let tab = self.tab()?;
        self.tell(&tab.session, EnableFetch { handle_auth_requests: true }).await?;
        let own = Navigate { url: "http://proxy.lango.invalid/".to_owned() };
        let navigated = self.tell(&tab.session, own).await?;
        if let Some(error) = navigated.error_text {
            let error = format!("the browser does not accept its proxy: {error}");
            return Err(NavigatorError::Failed(error));
        }
        self.tell(&tab.session, DisableFetch {}).await?;
        // Only a page that is shown has a history to forget.
        self.navigate("about:blank").await?;
        self.tell_shown(&tab.session, || ResetNavigationHistory {}).await?;
        self.proxy.take_blocked();
        Ok(())
    }

    /// Whether it has ended.
    pub(crate) fn is_gone(&self) -> bool {
        self.connection.gone().is_cancelled()
    }

    /// The process group of the browser.
    pub(crate) fn process_group(&self) -> Option<u32> {
        self.process.id()
    }

    /// Ends it, and waits until it is gone.
    pub(crate) async fn close(mut self) {
        if !self.is_gone() {
            // Politely first: a profile that is kept is written out. Closing the pipe does the
            // rest.
            let _ = self.connection.call(None, &CloseBrowser {}, Duration::from_secs(3)).await;
        }
        self.connection.close();
        self.process.end(END_TIME).await;
    }

    /// Calls the browser itself.
    pub(crate) async fn ask<C: Command>(&self, command: C) -> Result<C::Reply, NavigatorError> {
        Ok(self.connection.call(None, &command, ANSWER_TIME).await?)
    }

    /// Calls a tab or a frame by its session.
    pub(crate) async fn tell<C: Command>(
        &self,
        session: &str,
        command: C,
    ) -> Result<C::Reply, NavigatorError> {
        self.tell_within(session, command, ANSWER_TIME).await
    }

    /// Calls a tab or a frame that may need longer, or may not have that long.
    pub(crate) async fn tell_within<C: Command>(
        &self,
        session: &str,
        command: C,
        limit: Duration,
    ) -> Result<C::Reply, NavigatorError> {
        Ok(self.connection.call(Some(session), &command, limit).await?)
    }

    /// How long a page may take.
    pub(crate) fn timeout(&self) -> Duration {
        self.timeout
    }

    /// The tab that is looked at.
    pub(crate) fn tab(&self) -> Result<Tab, NavigatorError> {
        if self.is_gone() {
            return Err(NavigatorError::Ended);
        }
        self.state.borrow().tab().cloned().ok_or(NavigatorError::NoPage)
    }

    /// How many tabs there are.
    pub(crate) fn tabs(&self) -> usize {
        self.state.borrow().tabs.len()
    }

    /// Looks at what is known.
    pub(crate) fn look<T>(&self, at: impl FnOnce(&State) -> T) -> T {
        at(&self.state.borrow())
    }

    /// Waits until something holds; `false` when the time is over or the browser gone.
    pub(crate) async fn wait(&self, limit: Duration, holds: impl FnMut(&State) -> bool) -> bool {
        let mut state = self.state.subscribe();
        let waiting = tokio::time::timeout(limit, state.wait_for(holds));
        tokio::select! {
            held = waiting => held.is_ok_and(|state| state.is_ok()),
            () = self.connection.gone().cancelled() => false,
        }
    }

    /// What happened since somebody last asked.
    pub(crate) fn take_notes(&self) -> Vec<Note> {
        let mut notes = Vec::new();
        self.state.send_if_modified(|state| {
            notes = std::mem::take(&mut state.notes);
            false
        });
        notes
    }

    /// Requests that were refused since somebody last asked.
    pub(crate) fn take_blocked(&self) -> Vec<Blocked> {
        self.proxy.take_blocked()
    }

    /// Keeps requests that were taken and are still to be reported.
    pub(crate) fn put_back(&self, blocked: Vec<Blocked>) {
        self.proxy.put_back(blocked);
    }

    /// Downloads that ended or were stopped and have not been reported, by id.
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

    /// Where its downloads are.
    pub(crate) fn downloads(&self) -> &Path {
        &self.downloads
    }
}

/// A directory of its own for a browser. Its path is short, because Chromium puts a socket in it.
fn temporary_home() -> Result<TempDir, NavigatorError> {
    let created = tempfile::Builder::new().prefix("lango-browser-").tempdir();
    created.map_err(|error| NavigatorError::NoDirectory {
        place: std::env::temp_dir().display().to_string(),
        reason: format!("there is no room for a browser profile: {error}"),
    })
}

pub(crate) fn private_directory(path: &Path) -> Result<(), NavigatorError> {
    use std::os::unix::fs::DirBuilderExt as _;
    let created = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    created.map_err(|error| NavigatorError::NoDirectory {
        place: path.display().to_string(),
        reason: format!("the directory {} cannot be made: {error}", path.display()),
    })
}
