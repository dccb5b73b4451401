//! Stores notifications until they are delivered.

use std::time::Duration;

use lango_notification::{Notification, NotificationEvent};
use lango_protocol::Timestamp;
use lango_store::{Database, ProcessIdentity, Row, Statement, WorkScope};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::AutomatorError;

/// Limits the attempts to deliver one notification.
const MAX_ATTEMPT_COUNT: u32 = 6;
/// The wait after the first attempt; each further one is four times as long.
const FIRST_WAIT: Duration = Duration::from_secs(5);
/// After this time an attempt of a process on another machine counts as interrupted. An attempt takes
/// half a minute at most.
const CLAIM_DURATION: Duration = Duration::from_mins(3);
/// Sets how long delivered notifications are kept.
const RETENTION: Duration = Duration::from_hours(24 * 30);

stored_names! {
    /// How far a notification is.
    DeliveryState {
        /// It waits for its first or its next attempt.
        Waiting = "waiting",
        /// An attempt is under way.
        Sending = "sending",
        /// It was delivered.
        Sent = "sent",
        /// It was given up.
        Failed = "failed",
        /// The process died during an attempt that must not be repeated.
        Unknown = "unknown",
    }
}

/// A notification as it is shown.
#[derive(Debug, Clone, Serialize)]
pub struct NotificationView {
    /// Its id.
    pub id: String,
    /// Its channel.
    pub channel: String,
    /// `success`, `failure`, `approval` or `reminder`.
    pub event: String,
    /// Its title.
    pub title: String,
    /// `waiting`, `sending`, `sent`, `failed` or `unknown`.
    pub state: &'static str,
    /// The number of attempts.
    pub attempts: u32,
    /// Why the last attempt failed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// The time of what it tells.
    pub at: Timestamp,
}

/// A notification that is to be delivered.
#[derive(Debug, Clone)]
pub(crate) struct PendingNotification {
    pub(crate) notification: Notification,
    pub(crate) channel: String,
    pub(crate) attempt: u32,
    /// True if an attempt was under way when its process ended.
    pub(crate) is_interrupted: bool,
    claim: String,
}

/// The stored notifications.
#[derive(Clone)]
pub(crate) struct Outbox(pub(crate) Database);

impl Outbox {
    /// Returns the statement that writes a notification for a channel, unless it was written before.
    pub(crate) fn build_entry(
        notification: &Notification,
        channel: &str,
        workspace: &str,
    ) -> Statement {
        Statement::new(
            "INSERT INTO notifications (id, workspace, channel, event, title, text, at, state, \
             attempt, due_at, claim, claim_pid, claim_host, claim_start, claimed_until, reason) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, 'waiting', 0, 0, '', 0, '', 0, 0, '') \
             ON CONFLICT (id) DO NOTHING",
        )
        .bind(format!("{}.{channel}", notification.id))
        .bind(workspace)
        .bind(channel)
        .bind(notification.event.as_str())
        .bind(notification.title.as_str())
        .bind(notification.text.as_str())
        .bind(notification.at.as_microseconds())
    }

    /// Returns the notifications of a scope whose time has come, and those whose attempt was
    /// interrupted, the oldest first.
    pub(crate) async fn list_due(
        &self,
        scope: &WorkScope,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<PendingNotification>, AutomatorError> {
        let statement = Statement::new(
            "SELECT id, channel, event, title, text, at, attempt, state, claim, claim_pid, claim_host, \
             claim_start, claimed_until FROM notifications WHERE state IN ('waiting', 'sending') \
             AND due_at <= $1 AND ($2 = '' OR workspace = $2) ORDER BY due_at, at, id LIMIT $3",
        )
        .bind(now.as_microseconds())
        .bind(scope.workspace.as_deref().unwrap_or_default())
        .bind(limit);
        let mut due = Vec::new();
        for row in self.0.query(statement).await? {
            due.extend(read_pending(&row, now)?);
        }
        Ok(due)
    }

    /// Claims a notification for an attempt of this process. Returns false if another one was faster.
    pub(crate) async fn claim(
        &self,
        pending: &mut PendingNotification,
        now: Timestamp,
    ) -> Result<bool, AutomatorError> {
        let (process, claim) = (ProcessIdentity::current(), Uuid::new_v4().to_string());
        let statement = Statement::new(
            "UPDATE notifications SET state = 'sending', attempt = attempt + 1, claim = $3, \
             claim_pid = $4, claim_host = $5, claim_start = $6, claimed_until = $7 \
             WHERE id = $1 AND claim = $2 AND state IN ('waiting', 'sending')",
        )
        .bind(pending.notification.id.as_str())
        .bind(pending.claim.as_str())
        .bind(claim.as_str())
        .bind(process.pid)
        .bind(process.host.as_str())
        .bind(process.start)
        .bind(now.plus(CLAIM_DURATION).as_microseconds());
        let is_claimed = self.0.write(statement.into()).await? == [1];
        if is_claimed {
            pending.attempt += 1;
            pending.claim = claim;
        }
        Ok(is_claimed)
    }

    /// Notes the end of a notification, or the time of its next attempt.
    pub(crate) async fn note(
        &self,
        pending: &PendingNotification,
        state: DeliveryState,
        reason: &str,
        now: Timestamp,
    ) -> Result<(), AutomatorError> {
        let is_over = state != DeliveryState::Waiting;
        let due = now.plus(wait_after(pending.attempt)).as_microseconds();
        let statement = Statement::new(
            "UPDATE notifications SET state = $3, reason = $4, due_at = $5, ended_at = $6 \
             WHERE id = $1 AND claim = $2",
        )
        .bind(pending.notification.id.as_str())
        .bind(pending.claim.as_str())
        .bind(state.as_str())
        .bind(reason)
        .bind(due)
        .bind(is_over.then(|| now.as_microseconds()));
        self.0.write(statement.into()).await?;
        Ok(())
    }

    /// Returns the newest notifications, the newest first.
    pub(crate) async fn list(
        &self,
        state: Option<DeliveryState>,
        limit: u32,
    ) -> Result<Vec<NotificationView>, AutomatorError> {
        let statement = Statement::new(
            "SELECT id, channel, event, title, state, attempt, reason, at FROM notifications \
             WHERE ($1 = '' OR state = $1) ORDER BY at DESC, id LIMIT $2",
        )
        .bind(state.map(DeliveryState::as_str).unwrap_or_default())
        .bind(limit);
        let text = |row: &Row, column| row.text(column).map(str::to_owned);
        let view = |row: &Row| {
            Ok(NotificationView {
                id: text(row, 0)?,
                channel: text(row, 1)?,
                event: text(row, 2)?,
                title: text(row, 3)?,
                state: DeliveryState::from_stored(row.text(4)?)?.as_str(),
                attempts: u32::try_from(row.integer(5)?).unwrap_or(u32::MAX),
                reason: text(row, 6)?,
                at: Timestamp::from_microseconds(row.integer(7)?),
            })
        };
        self.0.query(statement).await?.iter().map(view).collect()
    }

    /// Removes what ended long ago.
    pub(crate) async fn remove_old(&self, now: Timestamp) -> Result<(), AutomatorError> {
        let retention = i64::try_from(RETENTION.as_micros()).unwrap_or(i64::MAX);
        let statement = Statement::new("DELETE FROM notifications WHERE ended_at < $1")
            .bind(now.as_microseconds().saturating_sub(retention));
        self.0.write(statement.into()).await?;
        Ok(())
    }
}

impl PendingNotification {
    /// Tells whether there is another attempt after this one.
    pub(crate) fn has_further_attempt(&self) -> bool {
        self.attempt < MAX_ATTEMPT_COUNT
    }
}

/// Returns how long the next attempt waits.
fn wait_after(attempt: u32) -> Duration {
    FIRST_WAIT * 4_u32.saturating_pow(attempt.saturating_sub(1).min(8))
}

/// Reads a notification; none if an attempt is under way.
fn read_pending(row: &Row, now: Timestamp) -> Result<Option<PendingNotification>, AutomatorError> {
    let text = |column| row.text(column).map(str::to_owned);
    let is_interrupted = DeliveryState::from_stored(row.text(7)?)? == DeliveryState::Sending;
    let process = ProcessIdentity {
        pid: u32::try_from(row.integer(9)?).unwrap_or(0),
        host: text(10)?,
        start: row.integer(11)?,
    };
    if is_interrupted && row.integer(12)? > now.as_microseconds() && !process.is_gone() {
        return Ok(None);
    }
    let event: NotificationEvent =
        row.text(2)?.parse().map_err(|error: String| AutomatorError::unreadable(&error))?;
    let at = Timestamp::from_microseconds(row.integer(5)?);
    let notification = Notification { id: text(0)?, event, title: text(3)?, text: text(4)?, at };
    Ok(Some(PendingNotification {
        notification,
        channel: text(1)?,
        attempt: u32::try_from(row.integer(6)?).unwrap_or(u32::MAX),
        is_interrupted,
        claim: text(8)?,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow() {
        let waits: Vec<u64> = (1..=5).map(|attempt| wait_after(attempt).as_secs()).collect();
        assert_eq!(waits, [5, 20, 80, 320, 1280]);
    }
}
