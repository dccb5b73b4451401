//! Sends push notifications about tasks. The updates follow from the journal, and the number of
//! sent ones is stored, so a restart continues where the last process stopped. Each address gets
//! its updates in order.

use std::collections::HashMap;
use std::sync::Arc;

use a2a::{StreamResponse, Task, TaskPushNotificationConfig};
use futures_util::future::join_all;
use lango_egress::{
    ClientLimits, Destination, Guard, GuardedClient, HeaderMap, HeaderName, HeaderValue, Method,
};
use lango_protocol::Caller;
use lango_store::StoreError;
use parking_lot::Mutex as SyncMutex;
use tokio::sync::Notify;

use super::incoming::check_id;
use super::notifications::Notification;
use super::projection::Projection;
use super::tables::TaskRow;
use super::tasks::{Tasks, internal};
use crate::wire::error::ProtocolError;
use crate::wire::{MEDIA_TYPE, NOTIFICATION_TOKEN_HEADER, VERSION_03, v03};

const MAX_URL_BYTES: usize = 2048;
const MAX_SECRET_BYTES: usize = 4096;
const MAX_WEBHOOK_REPLY_BYTES: usize = 64 * 1024;
const WEBHOOK_TIMEOUT: std::time::Duration = std::time::Duration::from_secs(15);

/// Posts notifications, and tracks the tasks that have subscribers.
pub(crate) struct Notifier {
    guard: Guard,
    client: GuardedClient,
    /// The lock is held for one look-up.
    tasks: SyncMutex<HashMap<String, Arc<Notify>>>,
}

impl Notifier {
    pub(crate) fn new(guard: Guard) -> Self {
        let limits =
            ClientLimits { bytes: MAX_WEBHOOK_REPLY_BYTES, time: WEBHOOK_TIMEOUT, redirects: 0 };
        let client = GuardedClient::new(guard.clone(), limits);
        Self { guard, client, tasks: SyncMutex::default() }
    }

    /// Signals that a task changed.
    pub(super) fn wake(&self, task: &str) {
        let tasks = self.tasks.lock();
        if let Some(wake) = tasks.get(task) {
            wake.notify_one();
        }
    }

    /// Returns the signal of a task if it is not watched yet.
    fn watch(&self, task: &str) -> Option<Arc<Notify>> {
        let mut tasks = self.tasks.lock();
        if let Some(wake) = tasks.get(task) {
            wake.notify_one();
            return None;
        }
        let wake = Arc::new(Notify::new());
        tasks.insert(task.to_owned(), Arc::clone(&wake));
        Some(wake)
    }

    fn forget(&self, task: &str) {
        self.tasks.lock().remove(task);
    }

    async fn post(&self, notification: &Notification, body: Vec<u8>) -> bool {
        let Some(headers) = headers(notification) else { return false };
        let sent = self.client.send(Method::POST, &notification.url, headers, body).await;
        sent.is_ok_and(|answer| answer.status.is_success())
    }
}

fn headers(notification: &Notification) -> Option<HeaderMap> {
    let mut headers = HeaderMap::new();
    let kind = if notification.version == VERSION_03 { "application/json" } else { MEDIA_TYPE };
    headers.insert("content-type", HeaderValue::from_static(kind));
    if let Some(scheme) = &notification.scheme {
        let proof = match &notification.credentials {
            Some(credentials) => format!("{scheme} {credentials}"),
            None => scheme.clone(),
        };
        let mut value = HeaderValue::from_str(&proof).ok()?;
        value.set_sensitive(true);
        headers.insert("authorization", value);
    }
    if let Some(token) = &notification.token {
        let name = HeaderName::from_bytes(NOTIFICATION_TOKEN_HEADER.as_bytes()).ok()?;
        headers.insert(name, HeaderValue::from_str(token).ok()?);
    }
    Some(headers)
}

/// The updates of a task.
struct Updates {
    /// The number of updates before `new`.
    from: u64,
    /// The new updates, each with the task after it if that is posted.
    new: Vec<(StreamResponse, Option<Task>)>,
    /// The total number of updates.
    count: u64,
    /// True if no more updates follow.
    ended: bool,
}

impl Tasks {
    fn notifier(&self) -> Result<&Notifier, ProtocolError> {
        self.notifier.as_ref().ok_or(ProtocolError::PushNotSupported)
    }

    /// Tells whether this server sends notifications.
    pub(crate) fn notifies(&self) -> bool {
        self.notifier.is_some()
    }

    /// Validates a configuration without a network request.
    pub(super) fn check_notification(
        &self,
        config: &TaskPushNotificationConfig,
    ) -> Result<(), ProtocolError> {
        let notifier = self.notifier()?;
        let wrong = |rule: &str| ProtocolError::invalid("url", rule);
        if config.url.len() > MAX_URL_BYTES {
            return Err(wrong("is too long"));
        }
        let (url, destination) = Destination::of_url(&config.url)
            .map_err(|_| wrong("must be an http or https address without a user name"))?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(wrong("must be an http or https address"));
        }
        notifier.guard.check(&destination).map_err(|_| wrong("may not be reached from here"))?;
        if let Some(id) = config.id.as_deref().filter(|id| !id.is_empty()) {
            check_id("id", id)?;
        }
        let authentication = config.authentication.as_ref();
        let secrets = [
            config.token.as_ref(),
            authentication.map(|authentication| &authentication.scheme),
            authentication.and_then(|authentication| authentication.credentials.as_ref()),
        ];
        for secret in secrets.into_iter().flatten() {
            if secret.len() > MAX_SECRET_BYTES || HeaderValue::from_str(secret).is_err() {
                return Err(ProtocolError::invalid("authentication", "does not fit into a header"));
            }
        }
        Ok(())
    }

    /// Checks that a task may have one more configuration, or this one in place of another.
    pub(super) async fn check_notification_limit(
        &self,
        task: &str,
        config: &TaskPushNotificationConfig,
    ) -> Result<(), ProtocolError> {
        let known = self.tables.notifications(task).await.map_err(internal)?;
        let limit = self.settings.notifications_of_task;
        let id = config.id.as_deref().filter(|id| !id.is_empty());
        if known.len() >= limit && !known.iter().any(|other| Some(other.id.as_str()) == id) {
            let message = format!("this task has {limit} push notification configurations already");
            return Err(ProtocolError::TooMany(message));
        }
        Ok(())
    }

    /// Saves a configuration for the updates from now on.
    pub(super) async fn add_notification(
        self: &Arc<Self>,
        task: &str,
        config: &TaskPushNotificationConfig,
        version: &str,
    ) -> Result<Notification, ProtocolError> {
        self.check_notification_limit(task, config).await?;
        let id = config.id.clone().filter(|id| !id.is_empty());
        let id = id.unwrap_or_else(|| uuid::Uuid::now_v7().to_string());
        let row = self.tables.task(task).await.map_err(internal)?.ok_or(ProtocolError::Internal)?;
        let Updates { count, ended, .. } =
            self.updates_of(&row, u64::MAX, u64::MAX).await.map_err(internal)?;
        let authentication = config.authentication.clone();
        let notification = Notification {
            id,
            url: config.url.clone(),
            token: config.token.clone().filter(|token| !token.is_empty()),
            credentials: authentication.as_ref().and_then(|some| some.credentials.clone()),
            scheme: authentication.map(|some| some.scheme),
            version: version.to_owned(),
            sent: count,
            done: ended,
        };
        self.tables.save_notification(task, &notification).await.map_err(internal)?;
        if !ended {
            self.notify_of(task);
        }
        Ok(notification)
    }

    /// Implements `CreateTaskPushNotificationConfig`.
    pub(crate) async fn create_notification(
        self: &Arc<Self>,
        caller: &Caller,
        config: TaskPushNotificationConfig,
        version: &str,
    ) -> Result<TaskPushNotificationConfig, ProtocolError> {
        self.notifier()?;
        let row = self.row(caller, &config.task_id).await?;
        self.check_notification(&config)?;
        let (tasks, version) = (Arc::clone(self), version.to_owned());
        self.run_to_completion(async move {
            let kept = tasks.add_notification(&row.id, &config, &version).await?;
            Ok(kept.to_config(&row.id))
        })
        .await
    }

    /// Implements `ListTaskPushNotificationConfigs`.
    pub(crate) async fn list_notifications(
        &self,
        caller: &Caller,
        task: &str,
    ) -> Result<Vec<TaskPushNotificationConfig>, ProtocolError> {
        self.notifier()?;
        let row = self.row(caller, task).await?;
        let all = self.tables.notifications(&row.id).await.map_err(internal)?;
        Ok(all.iter().map(|notification| notification.to_config(&row.id)).collect())
    }

    /// Implements `GetTaskPushNotificationConfig`.
    pub(crate) async fn get_notification(
        &self,
        caller: &Caller,
        task: &str,
        id: &str,
    ) -> Result<TaskPushNotificationConfig, ProtocolError> {
        let all = self.list_notifications(caller, task).await?;
        let unknown =
            || ProtocolError::TaskNotFound(format!("{task}/{id}").chars().take(80).collect());
        all.into_iter().find(|config| config.id.as_deref() == Some(id)).ok_or_else(unknown)
    }

    /// Implements `DeleteTaskPushNotificationConfig`. A second call changes nothing.
    pub(crate) async fn delete_notification(
        &self,
        caller: &Caller,
        task: &str,
        id: &str,
    ) -> Result<(), ProtocolError> {
        self.notifier()?;
        check_id("id", id)?;
        let row = self.row(caller, task).await?;
        self.tables.drop_notification(&row.id, id).await.map_err(internal)
    }

    /// Returns the updates of a task from the journal alone: those after the first `from`, and
    /// after the first `whole` together with the task.
    async fn updates_of(
        &self,
        row: &TaskRow,
        from: u64,
        whole: u64,
    ) -> Result<Updates, StoreError> {
        let mut projection = Projection::new(&row.id, &row.context, row.created_at, row.revealed);
        let (mut count, mut new) = (0, Vec::new());
        let mut add = |updates: Vec<StreamResponse>, projection: &Projection| {
            for update in updates {
                if count >= from {
                    let wants_task = count >= whole && posts_task(&update);
                    new.push((update, wants_task.then(|| projection.task())));
                }
                count += 1;
            }
        };
        for turn in self.tables.turns(&row.id).await? {
            let updates = projection.begin_turn(turn.position, &turn.message_id, turn.at);
            add(updates, &projection);
            for event in self.journal.turn_events(&row.session, turn.turn).await? {
                if row.ended_before(&event) {
                    continue;
                }
                let updates = projection.apply(&event);
                add(updates, &projection);
            }
        }
        if let Some((how, at)) = row.ended {
            let updates = projection.end(how, at);
            add(updates, &projection);
        }
        let ended = projection.state().is_terminal() || projection.message().is_some();
        Ok(Updates { from, new, count, ended })
    }

    /// Sends notifications about a task in the background until no more updates follow.
    fn notify_of(self: &Arc<Self>, task: &str) {
        let Some(wake) = self.notifier.as_ref().and_then(|notifier| notifier.watch(task)) else {
            return;
        };
        let (tasks, task) = (Arc::clone(self), task.to_owned());
        self.background.spawn(async move {
            let closing = tasks.closing.clone();
            tokio::select! {
                biased;
                () = closing.cancelled() => {}
                () = tasks.deliver_notifications(&task, &wake) => {}
            }
            if let Some(notifier) = &tasks.notifier {
                notifier.forget(&task);
            }
        });
    }

    async fn deliver_notifications(&self, task: &str, wake: &Notify) {
        loop {
            match self.deliver_all(task).await {
                Ok(true) => return,
                Ok(false) => wake.notified().await,
                // The database may come back.
                Err(_) => tokio::time::sleep(std::time::Duration::from_secs(1)).await,
            }
        }
    }

    /// Sends all unsent updates. Returns whether no more follow.
    async fn deliver_all(&self, task: &str) -> Result<bool, StoreError> {
        let Some(row) = self.tables.task(task).await? else { return Ok(true) };
        let mut open = self.tables.notifications(task).await?;
        open.retain(|notification| !notification.done);
        let least = |some: &mut dyn Iterator<Item = &Notification>| {
            some.map(|notification| notification.sent).min().unwrap_or(u64::MAX)
        };
        let from = least(&mut open.iter());
        let whole = least(&mut open.iter().filter(|open| open.version == VERSION_03));
        let updates = self.updates_of(&row, from, whole).await?;
        let deliveries =
            open.iter().map(|notification| self.deliver_one(task, notification, &updates));
        join_all(deliveries).await.into_iter().collect::<Result<Vec<()>, _>>()?;
        // A configuration that was added meanwhile is served too.
        let left = self.tables.notifications(task).await?;
        Ok(updates.ended && left.iter().all(|notification| notification.done))
    }

    async fn deliver_one(
        &self,
        task: &str,
        notification: &Notification,
        updates: &Updates,
    ) -> Result<(), StoreError> {
        let Some(notifier) = &self.notifier else { return Ok(()) };
        let mut sent = notification.sent;
        let old = sent.saturating_sub(updates.from);
        let new = updates.new.iter().skip(usize::try_from(old).unwrap_or(usize::MAX));
        for (update, after) in new {
            if let Some(body) = body(notification, update, after.as_ref())
                && !self.post_with_retries(notifier, notification, body).await
            {
                return self.tables.record_sent(task, notification, sent, true).await.map(drop);
            }
            sent += 1;
            if !self.tables.record_sent(task, notification, sent, false).await? {
                // It was deleted, or has another address now.
                return Ok(());
            }
        }
        if updates.ended {
            self.tables.record_sent(task, notification, sent, true).await?;
        }
        Ok(())
    }

    /// Posts until it is accepted or the attempts are used up. Returns whether it was accepted.
    async fn post_with_retries(
        &self,
        notifier: &Notifier,
        notification: &Notification,
        body: Vec<u8>,
    ) -> bool {
        let mut pause = self.settings.notification_pause;
        for attempt in 1..=self.settings.notification_attempts {
            if notifier.post(notification, body.clone()).await {
                return true;
            }
            if attempt < self.settings.notification_attempts {
                tokio::time::sleep(pause).await;
                pause *= 2;
            }
        }
        false
    }

    /// Continues the notifications that a dead process had not sent.
    pub(crate) async fn resume_notifications(self: &Arc<Self>) -> Result<(), StoreError> {
        if self.notifier.is_some() {
            for task in self.tables.tasks_with_open_notifications().await? {
                self.notify_of(&task);
            }
        }
        Ok(())
    }
}

/// Returns the body to post: the update, or the whole task in 0.3, which has nothing smaller.
fn body(
    notification: &Notification,
    update: &StreamResponse,
    after: Option<&Task>,
) -> Option<Vec<u8>> {
    if notification.version != VERSION_03 {
        return serde_json::to_vec(update).ok();
    }
    let after = after.filter(|_| posts_task(update))?;
    serde_json::to_vec(&v03::Task::from(after.clone())).ok()
}

/// Tells whether an update is posted in 0.3.
fn posts_task(update: &StreamResponse) -> bool {
    !matches!(update, StreamResponse::ArtifactUpdate(_))
}
