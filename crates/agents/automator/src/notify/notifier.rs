//! Decides who is notified of what, and delivers it.

use std::collections::BTreeSet;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::StreamExt as _;
use lango_notification::{Channel, DeliveryError, Notification, NotificationEvent};
use lango_protocol::{CallId, EventBody, Space, Timestamp};
use lango_store::{Batch, Journal, Statement, StoreError, WorkItem, WorkScope, WorkState};
use lango_text::to_one_line;
use parking_lot::Mutex;

use super::outbox::{DeliveryState, Outbox, PendingNotification};
use super::{NotificationRoutes, NotificationView};
use crate::AutomatorError;
use crate::jobs::{JOB_KIND, JobBook};
use crate::workflow::{WORKFLOW_KIND, WORKFLOW_QUESTION_KIND};

/// Sets how often it is looked whether deliveries have ended.
const IDLE_LOOK_INTERVAL: Duration = Duration::from_millis(20);
/// Limits what is decided and delivered in one round.
const MAX_ROUND_COUNT: u32 = 50;
/// Limits the deliveries at the same time.
const MAX_PARALLEL_COUNT: usize = 4;
/// Limits the characters of a question in a notification.
const MAX_QUESTION_CHARACTERS: usize = 200;
/// Limits the calls that this process remembers to have told about.
const MAX_SEEN_COUNT: usize = 10_000;
/// Begins the result of a reminder.
pub(crate) const REMINDER: &str = "Reminder: ";

/// Opens a channel by its name.
pub type ChannelOpener = Arc<
    dyn Fn(String) -> Pin<Box<dyn Future<Output = Result<Channel, DeliveryError>> + Send>>
        + Send
        + Sync,
>;

/// What notifications are delivered with.
#[derive(Clone)]
pub struct NotificationMeans {
    /// Opens channels.
    pub open: ChannelOpener,
    /// Replaces known secrets in a text.
    pub scrub: Arc<dyn Fn(&str) -> String + Send + Sync>,
}

impl fmt::Debug for NotificationMeans {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("NotificationMeans")
    }
}

/// Notifies the owner of work of a scope. Any number may look at one database.
pub struct Notifier {
    jobs: JobBook,
    scope: WorkScope,
    /// True while deliveries of this process are under way.
    is_busy: Arc<AtomicBool>,
    /// The questions that were told. Locked to look one up.
    seen: Mutex<BTreeSet<CallId>>,
}

impl Notifier {
    /// Creates a notifier for the work of a scope.
    pub fn new(jobs: JobBook, scope: WorkScope) -> Self {
        Self { jobs, scope, is_busy: Arc::default(), seen: Mutex::default() }
    }

    fn outbox(&self) -> Outbox {
        Outbox(self.jobs.database.clone())
    }

    /// Removes notifications that ended long ago.
    pub async fn remove_old(&self, now: Timestamp) -> Result<(), AutomatorError> {
        self.outbox().remove_old(now).await
    }

    /// Decides about the work that has ended and about new questions, each once.
    pub async fn decide(&self) -> Result<(), AutomatorError> {
        let journal = self.jobs.journal();
        for item in journal.list_unannounced_work(&self.scope, MAX_ROUND_COUNT).await? {
            let mut batch = Batch::from(Journal::build_announcement(&item.id));
            for entry in self.build_entries(&item).await? {
                batch.push(entry);
            }
            match self.jobs.database.write(batch).await {
                // Another process was faster.
                Ok(_) | Err(StoreError::Conflict { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        for (call, work) in journal.list_questions_of_work(&self.scope).await? {
            if !self.seen.lock().contains(&call) {
                self.tell_question(&call, &work).await?;
                let mut seen = self.seen.lock();
                if seen.len() >= MAX_SEEN_COUNT {
                    seen.clear();
                }
                seen.insert(call);
            }
        }
        Ok(())
    }

    async fn build_entries(&self, item: &WorkItem) -> Result<Vec<Statement>, AutomatorError> {
        let Some(event) = find_event(item) else { return Ok(Vec::new()) };
        let routes = self.find_routes(item).await?;
        let channels = routes.channels(event);
        if channels.is_empty() {
            return Ok(Vec::new());
        }
        let (title, text) = match event {
            NotificationEvent::Reminder => {
                let text = item.result.strip_prefix(REMINDER).unwrap_or(&item.result);
                ("Reminder".to_owned(), text.to_owned())
            }
            NotificationEvent::Approval => {
                (format!("Waiting for you: {}", item.title), item.result.clone())
            }
            NotificationEvent::Success => (format!("Done: {}", item.title), item.result.clone()),
            NotificationEvent::Failure => (format!("Failed: {}", item.title), item.result.clone()),
        };
        let text = if text.is_empty() { item.state.to_string() } else { text };
        let at = item.ended_at.unwrap_or(item.due_at);
        let notification = self.build(&item.id, event, (&title, &text), at);
        let entry = |channel: &String| Outbox::build_entry(&notification, channel, &item.workspace);
        Ok(channels.iter().map(entry).collect())
    }

    /// Tells that a call of a piece of work waits for an answer.
    async fn tell_question(&self, call: &CallId, work: &str) -> Result<(), AutomatorError> {
        let journal = self.jobs.journal();
        let Some(item) = journal.find_work(work).await?.filter(|item| item.space == Space::Owner)
        else {
            return Ok(());
        };
        let routes = self.find_routes(&item).await?;
        let channels = routes.channels(NotificationEvent::Approval);
        if channels.is_empty() {
            return Ok(());
        }
        let events = journal.read_turn_events(&item.session, item.turn).await?;
        let question = events.into_iter().rev().find_map(|event| match event.body {
            EventBody::ApprovalRequested { call: asked, tool, summary, .. } if asked == *call => {
                Some((format!("{tool}: {summary}"), event.at))
            }
            _ => None,
        });
        let Some((question, at)) = question else { return Ok(()) };
        let question = to_one_line(&question, MAX_QUESTION_CHARACTERS);
        let text = format!("{question} — answer with: lango approvals list");
        let title = format!("Waiting for you: {}", item.title);
        let event = NotificationEvent::Approval;
        let notification = self.build(call.as_str(), event, (&title, &text), at);
        let mut batch = Batch::new();
        for channel in channels {
            batch.push(Outbox::build_entry(&notification, channel, &item.workspace));
        }
        self.jobs.database.write(batch).await?;
        Ok(())
    }

    fn build(
        &self,
        subject: &str,
        event: NotificationEvent,
        (title, text): (&str, &str),
        at: Timestamp,
    ) -> Notification {
        let scrub = |text: &str| match &self.jobs.settings.notification_means {
            Some(means) => (means.scrub)(text),
            None => text.to_owned(),
        };
        let id = format!("{subject}.{event}");
        Notification::new(id, event, &scrub(title), &scrub(text), at)
    }

    /// Returns the routes of the job that a piece of work belongs to, else those of the configuration.
    async fn find_routes(&self, item: &WorkItem) -> Result<NotificationRoutes, AutomatorError> {
        if item.kind == JOB_KIND
            && let Some(job) = self.jobs.load(&item.parent).await?
            && let Some(routes) = job.notify
        {
            return Ok(routes);
        }
        if matches!(item.kind.as_str(), WORKFLOW_QUESTION_KIND | crate::WORKFLOW_RUN_KIND)
            && let Some(job) = self.jobs.load_job_of_run(&item.parent).await?
            && let Some(routes) = job.notify
        {
            return Ok(routes);
        }
        Ok(self.jobs.settings.notify.clone())
    }

    /// Decides about what has ended until now, and delivers what is due, before the process ends.
    pub async fn settle(&self) {
        if let Err(error) = self.decide().await {
            tracing::debug!(%error, "another process decides who is notified");
        }
        self.wait_until_idle().await;
        self.deliver_due();
        self.wait_until_idle().await;
    }

    async fn wait_until_idle(&self) {
        while self.is_busy.load(Ordering::Acquire) {
            tokio::time::sleep(IDLE_LOOK_INTERVAL).await;
        }
    }

    /// Begins to deliver what is due, unless deliveries are under way.
    pub fn deliver_due(&self) {
        let Some(means) = self.jobs.settings.notification_means.clone() else { return };
        if self.is_busy.swap(true, Ordering::AcqRel) {
            return;
        }
        let (outbox, scope) = (self.outbox(), self.scope.clone());
        let is_busy = Arc::clone(&self.is_busy);
        tokio::spawn(async move {
            if let Err(error) = deliver_all(&outbox, &scope, &means).await {
                tracing::warn!(%error, "notifications are delivered later");
            }
            is_busy.store(false, Ordering::Release);
        });
    }
}

impl JobBook {
    /// Returns the newest notifications, the newest first; only those in one state if it is named.
    pub async fn list_notifications(
        &self,
        state: Option<DeliveryState>,
        limit: u32,
    ) -> Result<Vec<NotificationView>, AutomatorError> {
        Outbox(self.database.clone()).list(state, limit).await
    }
}

/// Returns what the owner is told about a piece of work that has ended; none for the steps of
/// workflows, for what was cancelled or left out, and for the work of API clients.
fn find_event(item: &WorkItem) -> Option<NotificationEvent> {
    if item.space != Space::Owner || item.kind == WORKFLOW_KIND {
        return None;
    }
    match item.state {
        _ if item.kind == WORKFLOW_QUESTION_KIND => Some(NotificationEvent::Approval),
        WorkState::Done if item.kind == JOB_KIND && item.result.starts_with(REMINDER) => {
            Some(NotificationEvent::Reminder)
        }
        WorkState::Done => Some(NotificationEvent::Success),
        WorkState::Failed => Some(NotificationEvent::Failure),
        _ => None,
    }
}

async fn deliver_all(
    outbox: &Outbox,
    scope: &WorkScope,
    means: &NotificationMeans,
) -> Result<(), AutomatorError> {
    let now = Timestamp::now();
    let due = outbox.list_due(scope, now, MAX_ROUND_COUNT).await?;
    let deliveries = due.into_iter().map(|pending| deliver(outbox, pending, means));
    let mut deliveries =
        futures_util::stream::iter(deliveries).buffer_unordered(MAX_PARALLEL_COUNT);
    while let Some(delivered) = deliveries.next().await {
        delivered?;
    }
    Ok(())
}

/// Makes one attempt, if no other process does.
async fn deliver(
    outbox: &Outbox,
    mut pending: PendingNotification,
    means: &NotificationMeans,
) -> Result<(), AutomatorError> {
    if !outbox.claim(&mut pending, Timestamp::now()).await? {
        return Ok(());
    }
    let channel = (means.open)(pending.channel.clone()).await;
    if pending.is_interrupted && channel.as_ref().is_ok_and(|channel| !channel.is_repeatable()) {
        let reason = "the process ended while it was delivered; it is not repeated";
        let (id, name) = (&pending.notification.id, &pending.channel);
        tracing::warn!(notification = id, channel = name, reason, "a notification is unknown");
        return outbox.note(&pending, DeliveryState::Unknown, reason, Timestamp::now()).await;
    }
    let delivered = match channel {
        Ok(channel) => channel.deliver(&pending.notification).await,
        Err(error) => Err(error),
    };
    let now = Timestamp::now();
    let Err(error) = delivered else {
        return outbox.note(&pending, DeliveryState::Sent, "", now).await;
    };
    let reason = (means.scrub)(&error.to_string());
    let (id, name) = (&pending.notification.id, &pending.channel);
    let (attempt, is_last) = (pending.attempt, !error.may_pass() || !pending.has_further_attempt());
    if is_last {
        tracing::error!(
            notification = id,
            channel = name,
            attempt,
            reason,
            "a notification is given up"
        );
        return outbox.note(&pending, DeliveryState::Failed, &reason, now).await;
    }
    tracing::warn!(
        notification = id,
        channel = name,
        attempt,
        reason,
        "a notification is tried again"
    );
    outbox.note(&pending, DeliveryState::Waiting, &reason, now).await
}
