//! Sends push notifications about tasks. The updates follow from the journal, and the number of
//! sent ones is stored, so a restart continues where the last process stopped. Each address gets
//! its updates in order.

use std::sync::Arc;

use a2a::{StreamResponse, Task, TaskPushNotificationConfig};
use futures_util::future::join_all;
use lango_egress::{BackoffPolicy, Destination, HeaderValue};
use lango_keystore::KeyStoreError;
use lango_protocol::Caller;
use lango_store::StoreError;
use tokio::sync::Notify;

use super::incoming::check_id;
use super::notifications::{Notification, WebhookProof};
use super::notifier::Notifier;
use super::projection::Projection;
use super::tables::TaskRow;
use super::tasks::{Tasks, internal_error};
use crate::wire::error::ProtocolError;
use crate::wire::{VERSION_03, v03};

const MAX_URL_BYTES: usize = 2048;
const MAX_SECRET_BYTES: usize = 4096;
/// Limits the pause between two attempts to send a notification.
const MAX_NOTIFICATION_PAUSE: std::time::Duration = std::time::Duration::from_mins(10);

/// The updates of a task.
struct TaskUpdates {
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
        let wrong = |rule: &str| ProtocolError::invalid_field("url", rule);
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
                return Err(ProtocolError::invalid_field(
                    "authentication",
                    "does not fit into a header",
                ));
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
        let known = self.tables.list_notification_ids(task).await.map_err(internal_error)?;
        let limit = self.settings.notifications_of_task;
        let id = config.id.as_deref().filter(|id| !id.is_empty());
        if known.len() >= limit && !known.iter().any(|other| Some(other.as_str()) == id) {
            let message = format!("this task has {limit} push notification configurations already");
            return Err(ProtocolError::TooMany(message));
        }
        // Nothing is begun whose credentials could not be stored.
        let proof = WebhookProof::of_config(config);
        let sealed = self.tables.seal_proof(task, "", &config.url, &proof).await;
        sealed.map(drop).map_err(refuse_credentials)
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
        let row = self
            .tables
            .find_task(task)
            .await
            .map_err(internal_error)?
            .ok_or(ProtocolError::Internal)?;
        let TaskUpdates { count, ended, .. } =
            self.read_updates(&row, u64::MAX, u64::MAX).await.map_err(internal_error)?;
        let notification = Notification {
            id,
            url: config.url.clone(),
            scheme: config.authentication.as_ref().map(|given| given.scheme.clone()),
            proof: WebhookProof::of_config(config),
            version: version.to_owned(),
            sent: count,
            done: ended,
        };
        self.tables.save_notification(task, &notification).await.map_err(refuse_credentials)?;
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
        let row = self.find_task_row(caller, &config.task_id).await?;
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
        let row = self.find_task_row(caller, task).await?;
        let all = self.tables.list_notifications(&row.id).await.map_err(refuse_credentials)?;
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
        let row = self.find_task_row(caller, task).await?;
        self.tables.drop_notification(&row.id, id).await.map_err(internal_error)
    }

    /// Returns the updates of a task from the journal alone: those after the first `from`, and
    /// after the first `whole` together with the task.
    async fn read_updates(
        &self,
        row: &TaskRow,
        from: u64,
        whole: u64,
    ) -> Result<TaskUpdates, StoreError> {
        let mut projection = Projection::new(&row.id, &row.context, row.created_at, row.revealed);
        let (mut count, mut new) = (0, Vec::new());
        let mut add = |updates: Vec<StreamResponse>, projection: &Projection| {
            for update in updates {
                if count >= from {
                    let wants_task = count >= whole && posts_task(&update);
                    new.push((update, wants_task.then(|| projection.snapshot_task())));
                }
                count += 1;
            }
        };
        for turn in self.tables.list_turns(&row.id).await? {
            let updates = projection.begin_turn(turn.position, &turn.message_id, turn.at);
            add(updates, &projection);
            for event in self.journal.read_turn_events(&row.session, turn.turn).await? {
                if row.ended_before(&event) {
                    continue;
                }
                let updates = projection.apply(&event);
                add(updates, &projection);
            }
        }
        if let Some((how, at)) = row.ended {
            let updates = projection.force_end(how, at);
            add(updates, &projection);
        }
        let ended = projection.state().is_terminal() || projection.message().is_some();
        Ok(TaskUpdates { from, new, count, ended })
    }

    /// Sends notifications about a task in the background until no more updates follow.
    fn notify_of(self: &Arc<Self>, task: &str) {
        let Some(wake) = self.notifier.as_ref().and_then(|notifier| notifier.start_watching(task))
        else {
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
                notifier.stop_watching(&task);
            }
        });
    }

    async fn deliver_notifications(&self, task: &str, wake: &Notify) {
        let mut is_reported = false;
        loop {
            match self.deliver_unsent_updates(task).await {
                Ok(true) => return,
                Ok(false) => wake.notified().await,
                // The database may come back, and the vault may be unlocked.
                Err(error) => {
                    if !std::mem::replace(&mut is_reported, true) {
                        tracing::warn!(%task, %error, "notifications wait");
                    }
                    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
                }
            }
        }
    }

    /// Sends all unsent updates. Returns whether no more follow.
    async fn deliver_unsent_updates(&self, task: &str) -> Result<bool, KeyStoreError> {
        let Some(row) = self.tables.find_task(task).await? else { return Ok(true) };
        let mut open = self.tables.list_notifications(task).await?;
        open.retain(|notification| !notification.done);
        let least = |some: &mut dyn Iterator<Item = &Notification>| {
            some.map(|notification| notification.sent).min().unwrap_or(u64::MAX)
        };
        let from = least(&mut open.iter());
        let whole = least(&mut open.iter().filter(|open| open.version == VERSION_03));
        let updates = self.read_updates(&row, from, whole).await?;
        let deliveries =
            open.iter().map(|notification| self.deliver_notification(task, notification, &updates));
        join_all(deliveries).await.into_iter().collect::<Result<Vec<()>, _>>()?;
        // A configuration that was added meanwhile is served too.
        Ok(updates.ended && !self.tables.has_open_notifications(task).await?)
    }

    async fn deliver_notification(
        &self,
        task: &str,
        notification: &Notification,
        updates: &TaskUpdates,
    ) -> Result<(), StoreError> {
        let Some(notifier) = &self.notifier else { return Ok(()) };
        let mut sent = notification.sent;
        let old = sent.saturating_sub(updates.from);
        let new = updates.new.iter().skip(usize::try_from(old).unwrap_or(usize::MAX));
        for (update, after) in new {
            if let Some(body) = build_body(notification, update, after.as_ref())
                && !self.post_with_retries(notifier, task, notification, body).await
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
        task: &str,
        notification: &Notification,
        body: Vec<u8>,
    ) -> bool {
        let id = &notification.id;
        let first = self.settings.notification_pause;
        let mut pauses = BackoffPolicy::doubling(first, MAX_NOTIFICATION_PAUSE).waits();
        for attempt in 1..=self.settings.notification_attempts {
            match notifier.post_once(notification, body.clone()).await {
                Ok(()) => return true,
                Err(reason) => tracing::debug!(%task, %id, attempt, reason, "notification failed"),
            }
            if attempt < self.settings.notification_attempts {
                tokio::time::sleep(pauses.next_wait()).await;
            }
        }
        tracing::warn!(%task, %id, "push notifications were given up");
        false
    }

    /// Continues the notifications that a dead process had not sent.
    pub(crate) async fn resume_notifications(self: &Arc<Self>) -> Result<(), StoreError> {
        if self.notifier.is_some() {
            for task in self.tables.list_tasks_with_open_notifications().await? {
                self.notify_of(&task);
            }
        }
        Ok(())
    }
}

/// Returns the error for credentials that cannot be stored or read now.
fn refuse_credentials(error: KeyStoreError) -> ProtocolError {
    if !matches!(error, KeyStoreError::Locked | KeyStoreError::OtherVariable) {
        return internal_error(error);
    }
    tracing::warn!(%error, "credentials of push notifications cannot be used");
    ProtocolError::UnsupportedOperation(
        "this server cannot use credentials of push notifications now, because its vault is locked"
            .to_owned(),
    )
}

/// Returns the body to post: the update, or the whole task in 0.3, which has nothing smaller.
fn build_body(
    notification: &Notification,
    update: &StreamResponse,
    after: Option<&Task>,
) -> Option<Vec<u8>> {
    // The types of the protocol always have a form in JSON.
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
