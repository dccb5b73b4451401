//! Whose browser is whose: one for each session, started when needed, closed when idle.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use lango_protocol::SessionId;
use lango_tool::{ToolContext, ToolError};
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard};
use tokio::time::Instant;

use crate::NavigatorSettings;
use crate::browser::Browser;
use crate::error::NavigatorError;
use crate::page::References;

/// The browsers of all sessions. Cheap to clone; they end when the last clone is gone.
#[derive(Clone)]
pub struct Navigator {
    shared: Arc<Shared>,
}

struct Shared {
    settings: NavigatorSettings,
    references: References,
    // Held for one look-up, never while a browser works.
    sessions: Mutex<HashMap<SessionId, Arc<Session>>>,
}

/// A session and its browser.
pub(crate) struct Session {
    id: SessionId,
    // One call at a time: a page is one place, and two hands on it would not know what they did.
    open: Arc<AsyncMutex<Open>>,
    // Written after each call, read by whoever looks for idle browsers.
    last_used: Mutex<Instant>,
}

/// What is behind the lock of a session.
#[derive(Default)]
pub(crate) struct Open {
    browser: Option<Browser>,
    /// Browsers so far, so that an element of an earlier one is not taken for one of this.
    generation: u64,
}

/// A session's browser in one hand.
pub(crate) struct Held {
    navigator: Navigator,
    session: Arc<Session>,
    open: OwnedMutexGuard<Open>,
    /// Whether the browser of an earlier call had ended by itself.
    has_ended: bool,
}

impl Navigator {
    pub(crate) fn new(settings: NavigatorSettings) -> Self {
        let references = References::default();
        Self { shared: Arc::new(Shared { settings, references, sessions: Mutex::default() }) }
    }

    pub(crate) fn settings(&self) -> &NavigatorSettings {
        &self.shared.settings
    }

    pub(crate) fn references(&self) -> &References {
        &self.shared.references
    }

    /// Runs one call of a session, unless the turn is stopped.
    pub(crate) async fn run<T, F: Future<Output = Result<T, NavigatorError>>>(
        &self,
        context: &ToolContext,
        call: impl FnOnce(Held) -> F,
    ) -> Result<T, ToolError> {
        let work = async {
            let held = self.hold(&context.session).await;
            call(held).await
        };
        let result = tokio::select! {
            biased;
            () = context.cancel.cancelled() => Err(NavigatorError::Cancelled),
            result = work => result,
        };
        Ok(result?)
    }

    async fn hold(&self, id: &SessionId) -> Held {
        let session = {
            let mut sessions = self.shared.sessions.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(sessions.entry(id.clone()).or_insert_with(|| Arc::new(Session::new(id))))
        };
        let mut open = Arc::clone(&session.open).lock_owned().await;
        let mut has_ended = false;
        if let Some(gone) = open.browser.take_if(|browser| browser.is_gone()) {
            gone.close().await;
            self.shared.references.forget(id);
            has_ended = true;
        }
        Held { navigator: self.clone(), session, open, has_ended }
    }

    /// Closes all browsers, and waits until they are gone.
    pub async fn close(&self) {
        for session in self.all() {
            let mut open = session.open.lock().await;
            if let Some(browser) = open.browser.take() {
                browser.close().await;
            }
            self.shared.references.forget(&session.id);
        }
    }

    /// The process groups of the browsers that run.
    pub async fn process_groups(&self) -> Vec<u32> {
        let mut groups = Vec::new();
        for session in self.all() {
            let open = session.open.lock().await;
            groups.extend(open.browser.as_ref().and_then(Browser::process_group));
        }
        groups
    }

    /// The tabs of all browsers.
    pub async fn tabs(&self) -> usize {
        let mut tabs = 0;
        for session in self.all() {
            tabs += session.open.lock().await.browser.as_ref().map_or(0, Browser::tabs);
        }
        tabs
    }

    fn all(&self) -> Vec<Arc<Session>> {
        let sessions = self.shared.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.values().cloned().collect()
    }

    /// Makes room for one more browser: closes the one that was not used for longest.
    async fn make_room(&self, own: &SessionId) -> Result<(), NavigatorError> {
        let mut idle = Vec::new();
        let mut running = 0;
        for session in self.all() {
            if session.id == *own {
                continue;
            }
            match Arc::clone(&session.open).try_lock_owned() {
                // Somebody works with it.
                Err(_) => running += 1,
                Ok(open) if open.browser.is_some() => {
                    running += 1;
                    idle.push((session.idle_time(), open));
                }
                Ok(_) => {}
            }
        }
        let most = self.shared.settings.browsers.max(1);
        if running < most {
            return Ok(());
        }
        idle.sort_by_key(|(time, _)| *time);
        let Some((_, mut open)) = idle.pop() else {
            return Err(NavigatorError::Failed(format!(
                "{running} browsers of other sessions are at work; try again when one is done"
            )));
        };
        if let Some(browser) = open.browser.take() {
            browser.close().await;
        }
        Ok(())
    }
}

impl Session {
    fn new(id: &SessionId) -> Self {
        let last_used = Mutex::new(Instant::now());
        Self { id: id.clone(), open: Arc::default(), last_used }
    }

    fn idle_time(&self) -> Duration {
        self.last_used.lock().unwrap_or_else(PoisonError::into_inner).elapsed()
    }

    fn was_used(&self) {
        *self.last_used.lock().unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}

impl Held {
    pub(crate) fn id(&self) -> &SessionId {
        &self.session.id
    }

    pub(crate) fn navigator(&self) -> &Navigator {
        &self.navigator
    }

    pub(crate) fn generation(&self) -> u64 {
        self.open.generation
    }

    /// Whether the browser of an earlier call had ended by itself.
    pub(crate) fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// The browser with its page.
    pub(crate) fn browser(&self) -> Result<&Browser, NavigatorError> {
        match &self.open.browser {
            Some(browser) => Ok(browser),
            None if self.has_ended => Err(NavigatorError::Ended),
            None => Err(NavigatorError::NoPage),
        }
    }

    /// The browser, started where there is none.
    pub(crate) async fn started(&mut self) -> Result<&Browser, NavigatorError> {
        if self.open.browser.is_none() {
            self.navigator.make_room(self.id()).await?;
            let settings = self.navigator.settings();
            let downloads = settings.downloads.join(self.id().as_str());
            let browser = Browser::start(settings, downloads).await?;
            self.open.browser = Some(browser);
            self.open.generation += 1;
            self.session.was_used();
            let idle = settings.idle;
            tokio::spawn(close_when_idle(Arc::downgrade(&self.session), idle));
        }
        self.browser()
    }

    /// Ends the browser; `false` where there was none.
    pub(crate) async fn close(&mut self) -> bool {
        let Some(browser) = self.open.browser.take() else { return false };
        browser.close().await;
        self.navigator.references().forget(self.id());
        true
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.session.was_used();
    }
}

/// Closes the browser of a session once nobody has used it for long enough.
async fn close_when_idle(session: Weak<Session>, idle: Duration) {
    loop {
        let Some(alive) = session.upgrade() else { return };
        let left = idle.saturating_sub(alive.idle_time());
        if left.is_zero() {
            let mut open = Arc::clone(&alive.open).lock_owned().await;
            // Somebody may have come while this waited.
            if alive.idle_time() >= idle {
                if let Some(browser) = open.browser.take() {
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
