//! Manages one browser for each session, started when needed, closed when idle.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Weak};
use std::time::Duration;

use lango_protocol::SessionId;
use lango_tool::{ToolContext, ToolError};
use parking_lot::Mutex;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};
use tokio::time::Instant;

use crate::NavigatorSettings;
use crate::browser::Browser;
use crate::error::NavigatorError;
use crate::page::ElementReferences;

/// Holds the browsers of all sessions. It is cheap to clone; they end when the last clone is gone.
#[derive(Clone)]
pub struct Navigator {
    shared: Arc<SharedSessions>,
}

struct SharedSessions {
    settings: NavigatorSettings,
    references: ElementReferences,
    // Locked for one lookup, never while a browser works.
    sessions: Mutex<HashMap<SessionId, Arc<Session>>>,
}

/// Holds a session and its browser.
pub(crate) struct Session {
    id: SessionId,
    // One call at a time: concurrent calls on one page would interfere.
    slot: Arc<AsyncMutex<BrowserSlot>>,
    // Written after each call, read by the search for idle browsers.
    last_used: Mutex<Instant>,
}

/// Holds what the lock of a session protects.
#[derive(Default)]
pub(crate) struct BrowserSlot {
    browser: Option<Browser>,
    /// The number of browsers so far, so that an element of an earlier one is not taken for one of
    /// this.
    generation: u64,
}

/// Gives one call exclusive use of a session's browser.
pub(crate) struct BrowserLease {
    navigator: Navigator,
    session: Arc<Session>,
    slot: OwnedMutexGuard<BrowserSlot>,
    /// True if the browser of an earlier call had ended by itself.
    has_ended: bool,
}

impl Navigator {
    pub(crate) fn new(settings: NavigatorSettings) -> Self {
        let references = ElementReferences::default();
        Self {
            shared: Arc::new(SharedSessions { settings, references, sessions: Mutex::default() }),
        }
    }

    pub(crate) fn settings(&self) -> &NavigatorSettings {
        &self.shared.settings
    }

    pub(crate) fn references(&self) -> &ElementReferences {
        &self.shared.references
    }

    /// Runs one call of a session, unless the turn is stopped.
    pub(crate) async fn run_call<T, F: Future<Output = Result<T, NavigatorError>>>(
        &self,
        context: &ToolContext,
        call: impl FnOnce(BrowserLease) -> F,
    ) -> Result<T, ToolError> {
        let work = async {
            let lease = self.lease_browser(&context.session).await;
            call(lease).await
        };
        let result = tokio::select! {
            biased;
            () = context.cancel.cancelled() => Err(NavigatorError::Cancelled),
            result = work => result,
        };
        Ok(result?)
    }

    async fn lease_browser(&self, id: &SessionId) -> BrowserLease {
        let session = {
            let mut sessions = self.shared.sessions.lock();
            Arc::clone(sessions.entry(id.clone()).or_insert_with(|| Arc::new(Session::new(id))))
        };
        let mut slot = Arc::clone(&session.slot).lock_owned().await;
        let mut has_ended = false;
        if let Some(gone) = slot.browser.take_if(|browser| browser.is_gone()) {
            gone.close().await;
            self.shared.references.forget_session(id);
            has_ended = true;
        }
        BrowserLease { navigator: self.clone(), session, slot, has_ended }
    }

    /// Closes all browsers, and waits until they are gone.
    pub async fn close(&self) {
        for session in self.list_sessions() {
            let mut slot = session.slot.lock().await;
            if let Some(browser) = slot.browser.take() {
                browser.close().await;
            }
            self.shared.references.forget_session(&session.id);
        }
    }

    /// Returns the process groups of the browsers that run.
    pub async fn list_process_groups(&self) -> Vec<u32> {
        let mut groups = Vec::new();
        for session in self.list_sessions() {
            let slot = session.slot.lock().await;
            groups.extend(slot.browser.as_ref().and_then(Browser::process_group));
        }
        groups
    }

    /// Returns the number of tabs of all browsers.
    pub async fn count_tabs(&self) -> usize {
        let mut tabs = 0;
        for session in self.list_sessions() {
            tabs += session.slot.lock().await.browser.as_ref().map_or(0, Browser::count_tabs);
        }
        tabs
    }

    fn list_sessions(&self) -> Vec<Arc<Session>> {
        let sessions = self.shared.sessions.lock();
        sessions.values().cloned().collect()
    }

    /// Makes sure that one more browser may start: closes the one that was idle for longest.
    async fn ensure_capacity(&self, own: &SessionId) -> Result<(), NavigatorError> {
        let mut idle = Vec::new();
        let mut running = 0;
        for session in self.list_sessions() {
            if session.id == *own {
                continue;
            }
            match Arc::clone(&session.slot).try_lock_owned() {
                // Another call uses it.
                Err(_) => running += 1,
                Ok(slot) if slot.browser.is_some() => {
                    running += 1;
                    idle.push((session.idle_time(), slot));
                }
                Ok(_) => {}
            }
        }
        let limit = self.shared.settings.browsers.max(1);
        if running < limit {
            return Ok(());
        }
        idle.sort_by_key(|(time, _)| *time);
        let Some((_, mut slot)) = idle.pop() else {
            return Err(NavigatorError::Failed(format!(
                "{running} browsers of other sessions are at work; try again when one is done"
            )));
        };
        if let Some(browser) = slot.browser.take() {
            browser.close().await;
        }
        Ok(())
    }
}

impl Session {
    fn new(id: &SessionId) -> Self {
        let last_used = Mutex::new(Instant::now());
        Self { id: id.clone(), slot: Arc::default(), last_used }
    }

    fn idle_time(&self) -> Duration {
        self.last_used.lock().elapsed()
    }

    fn mark_used(&self) {
        *self.last_used.lock() = Instant::now();
    }
}

impl BrowserLease {
    pub(crate) fn id(&self) -> &SessionId {
        &self.session.id
    }

    pub(crate) fn navigator(&self) -> &Navigator {
        &self.navigator
    }

    pub(crate) fn generation(&self) -> u64 {
        self.slot.generation
    }

    /// Tells whether the browser of an earlier call had ended by itself.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Returns the browser with its page.
    pub(crate) fn browser(&self) -> Result<&Browser, NavigatorError> {
        match &self.slot.browser {
            Some(browser) => Ok(browser),
            None if self.has_ended => Err(NavigatorError::Ended),
            None => Err(NavigatorError::NoPage),
        }
    }

    /// Returns the browser, and starts one if there is none.
    pub(crate) async fn start_if_needed(&mut self) -> Result<&Browser, NavigatorError> {
        if self.slot.browser.is_none() {
            self.navigator.ensure_capacity(self.id()).await?;
            let settings = self.navigator.settings();
            let downloads = settings.downloads.join(self.id().as_str());
            let browser = Browser::start(settings, downloads).await?;
            self.slot.browser = Some(browser);
            self.slot.generation += 1;
            self.session.mark_used();
            let idle = settings.idle;
            tokio::spawn(close_when_idle(Arc::downgrade(&self.session), idle));
        }
        self.browser()
    }

    /// Ends the browser; `false` if there was none.
    pub(crate) async fn close(&mut self) -> bool {
        let Some(browser) = self.slot.browser.take() else { return false };
        browser.close().await;
        self.navigator.references().forget_session(self.id());
        true
    }
}

impl Drop for BrowserLease {
    fn drop(&mut self) {
        self.session.mark_used();
    }
}

/// Closes the browser of a session once it was idle for long enough.
async fn close_when_idle(session: Weak<Session>, idle: Duration) {
    loop {
        let Some(alive) = session.upgrade() else { return };
        let left = idle.saturating_sub(alive.idle_time());
        if left.is_zero() {
            let mut slot = Arc::clone(&alive.slot).lock_owned().await;
            // A call may have used it while this waited.
            if alive.idle_time() >= idle {
                if let Some(browser) = slot.browser.take() {
                    browser.close().await;
                }
                return;
            }
            continue;
        }
        drop(alive);
        tokio::time::sleep(left).await;
    }
}
