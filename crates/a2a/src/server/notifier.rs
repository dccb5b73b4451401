//! Posts notifications to the addresses that callers gave.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use lango_egress::{
    ClientLimits, Guard, GuardedClient, HeaderMap, HeaderName, HeaderValue, Method,
};
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::notifications::Notification;
use crate::wire::{MEDIA_TYPE, NOTIFICATION_TOKEN_HEADER, VERSION_03};

const MAX_WEBHOOK_REPLY_BYTES: usize = 64 * 1024;
const WEBHOOK_TIMEOUT: Duration = Duration::from_secs(15);

/// Posts notifications, and tracks the tasks that have subscribers.
pub(crate) struct Notifier {
    pub(super) guard: Guard,
    client: GuardedClient,
    /// The lock is held for one look-up.
    tasks: Mutex<HashMap<String, Arc<Notify>>>,
}

impl Notifier {
    pub(crate) fn new(guard: Guard) -> Self {
        let limits =
            ClientLimits { bytes: MAX_WEBHOOK_REPLY_BYTES, time: WEBHOOK_TIMEOUT, redirects: 0 };
        let client = GuardedClient::new(guard.clone(), limits);
        Self { guard, client, tasks: Mutex::default() }
    }

    /// Signals that a task changed.
    pub(super) fn signal_change(&self, task: &str) {
        let tasks = self.tasks.lock();
        if let Some(wake) = tasks.get(task) {
            wake.notify_one();
        }
    }

    /// Returns the signal of a task if it is not watched yet.
    pub(super) fn start_watching(&self, task: &str) -> Option<Arc<Notify>> {
        let mut tasks = self.tasks.lock();
        if let Some(wake) = tasks.get(task) {
            wake.notify_one();
            return None;
        }
        let wake = Arc::new(Notify::new());
        tasks.insert(task.to_owned(), Arc::clone(&wake));
        Some(wake)
    }

    pub(super) fn stop_watching(&self, task: &str) {
        self.tasks.lock().remove(task);
    }

    /// Sends a notification once. An error has no address and no credentials in it.
    pub(super) async fn post_once(
        &self,
        notification: &Notification,
        body: Vec<u8>,
    ) -> Result<(), String> {
        let headers =
            build_headers(notification).ok_or("its credentials do not fit into a header")?;
        match self.client.send(Method::POST, &notification.url, headers, body).await {
            Ok(answer) if answer.status.is_success() => Ok(()),
            Ok(answer) => Err(format!("HTTP {}", answer.status.as_u16())),
            Err(error) => Err(error.kind().to_owned()),
        }
    }
}

/// Returns the headers, which were checked when the configuration was accepted.
fn build_headers(notification: &Notification) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    let kind = if notification.version == VERSION_03 { "application/json" } else { MEDIA_TYPE };
    headers.insert("content-type", HeaderValue::from_static(kind));
    if let Some(scheme) = &notification.scheme {
        let proof = match &notification.proof.credentials {
            Some(credentials) => format!("{scheme} {credentials}"),
            None => scheme.clone(),
        };
        let mut value = HeaderValue::from_str(&proof).ok()?;
        value.set_sensitive(true);
        headers.insert("authorization", value);
    }
    if let Some(token) = &notification.proof.token {
        let name = HeaderName::from_bytes(NOTIFICATION_TOKEN_HEADER.as_bytes()).ok()?;
        let mut value = HeaderValue::from_str(token).ok()?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    Some(headers)
}
