//! Stores the configurations of push notifications.

use a2a::{AuthenticationInfo, TaskPushNotificationConfig};
use lango_store::{Batch, Row, Statement, StoreError};

use super::tables::TaskTables;

/// A stored configuration.
#[derive(Debug, Clone)]
pub(crate) struct Notification {
    pub(crate) id: String,
    pub(crate) url: String,
    pub(crate) token: Option<String>,
    pub(crate) scheme: Option<String>,
    pub(crate) credentials: Option<String>,
    /// The protocol version of the request that created it.
    pub(crate) version: String,
    /// The number of updates of the task that were sent.
    pub(crate) sent: u64,
    /// True if nothing more is sent, because everything was sent or delivery was given up.
    pub(crate) done: bool,
}

impl Notification {
    /// Returns the configuration as the caller sees it, without its credentials.
    pub(crate) fn to_config(&self, task: &str) -> TaskPushNotificationConfig {
        let scheme = self.scheme.clone();
        TaskPushNotificationConfig {
            url: self.url.clone(),
            id: Some(self.id.clone()),
            task_id: task.to_owned(),
            token: self.token.clone(),
            authentication: scheme.map(|scheme| AuthenticationInfo { scheme, credentials: None }),
            tenant: None,
        }
    }
}

const COLUMNS: &str = "id, url, token, scheme, credentials, version, sent, done";

impl TaskTables {
    /// Saves a configuration, in place of one with the same id.
    pub(crate) async fn save_notification(
        &self,
        task: &str,
        notification: &Notification,
    ) -> Result<(), StoreError> {
        let sent = i64::try_from(notification.sent).unwrap_or(i64::MAX);
        let statement = Statement::new(
            "INSERT INTO a2a_notifications (task, id, url, token, scheme, credentials, version, \
             sent, done) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) \
             ON CONFLICT (task, id) DO UPDATE SET url = excluded.url, token = excluded.token, \
             scheme = excluded.scheme, credentials = excluded.credentials, \
             version = excluded.version, sent = excluded.sent, done = excluded.done",
        )
        .bind(task)
        .bind(notification.id.as_str())
        .bind(notification.url.as_str())
        .bind(notification.token.clone())
        .bind(notification.scheme.clone())
        .bind(notification.credentials.clone())
        .bind(notification.version.as_str())
        .bind(sent)
        .bind(notification.done);
        self.database.write(Batch::from(statement)).await.map(drop)
    }

    /// Returns the configurations of a task, by id.
    pub(crate) async fn list_notifications(
        &self,
        task: &str,
    ) -> Result<Vec<Notification>, StoreError> {
        let statement = Statement::new(format!(
            "SELECT {COLUMNS} FROM a2a_notifications WHERE task = $1 ORDER BY id"
        ))
        .bind(task);
        let rows = self.database.query(statement).await?;
        rows.iter().map(read_notification).collect()
    }

    /// Records the progress of a configuration, unless another one has taken its place. Returns
    /// whether it was recorded.
    pub(crate) async fn record_sent(
        &self,
        task: &str,
        notification: &Notification,
        sent: u64,
        done: bool,
    ) -> Result<bool, StoreError> {
        let statement = Statement::new(
            "UPDATE a2a_notifications SET sent = $3, done = $4 \
             WHERE task = $1 AND id = $2 AND url = $5",
        )
        .bind(task)
        .bind(notification.id.as_str())
        .bind(i64::try_from(sent).unwrap_or(i64::MAX))
        .bind(done)
        .bind(notification.url.as_str());
        let changed = self.database.write(Batch::from(statement)).await?;
        Ok(changed.first() == Some(&1))
    }

    /// Deletes a configuration, if it exists.
    pub(crate) async fn drop_notification(&self, task: &str, id: &str) -> Result<(), StoreError> {
        let statement = Statement::new("DELETE FROM a2a_notifications WHERE task = $1 AND id = $2")
            .bind(task)
            .bind(id);
        self.database.write(Batch::from(statement)).await.map(drop)
    }

    /// Returns the tasks with notifications that are not done.
    pub(crate) async fn list_tasks_with_open_notifications(
        &self,
    ) -> Result<Vec<String>, StoreError> {
        let statement =
            Statement::new("SELECT DISTINCT task FROM a2a_notifications WHERE done = 0");
        let rows = self.database.query(statement).await?;
        rows.iter().map(|row| row.text(0).map(str::to_owned)).collect()
    }
}

fn read_notification(row: &Row) -> Result<Notification, StoreError> {
    let optional = |column| row.optional_text(column).map(|text| text.map(str::to_owned));
    Ok(Notification {
        id: row.text(0)?.to_owned(),
        url: row.text(1)?.to_owned(),
        token: optional(2)?,
        scheme: optional(3)?,
        credentials: optional(4)?,
        version: row.text(5)?.to_owned(),
        sent: row.unsigned(6)?,
        done: row.boolean(7)?,
    })
}
