//! Stores the configurations of push notifications. What proves to a webhook who posts is encrypted
//! with a key of the vault.

use a2a::{AuthenticationInfo, TaskPushNotificationConfig};
use lango_keystore::{KeyStoreError, SecretBytes};
use lango_store::{Batch, Row, Statement, StoreError};
use serde::{Deserialize, Serialize};

use super::tables::TaskTables;

/// The table of the configurations.
const TABLE: &str = "a2a_notifications";

/// What proves to a webhook who posts. It is never printed.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct WebhookProof {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) token: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) credentials: Option<String>,
}

impl WebhookProof {
    pub(crate) fn of_config(config: &TaskPushNotificationConfig) -> Self {
        let authentication = config.authentication.as_ref();
        let credentials = authentication.and_then(|given| given.credentials.clone());
        Self { token: config.token.clone().filter(|token| !token.is_empty()), credentials }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.token.is_none() && self.credentials.is_none()
    }
}

impl std::fmt::Debug for WebhookProof {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WebhookProof")
    }
}

/// A stored configuration.
#[derive(Debug, Clone)]
pub(crate) struct Notification {
    pub(crate) id: String,
    pub(crate) url: String,
    pub(crate) scheme: Option<String>,
    pub(crate) proof: WebhookProof,
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
            token: self.proof.token.clone(),
            authentication: scheme.map(|scheme| AuthenticationInfo { scheme, credentials: None }),
            tenant: None,
        }
    }
}

const COLUMNS: &str = "id, url, token, scheme, credentials, version, sent, done, sealed";

/// A configuration whose proof is still encrypted, or in plain text as an earlier version wrote it.
struct StoredNotification {
    notification: Notification,
    sealed: Option<Vec<u8>>,
}

impl TaskTables {
    /// Encrypts a proof for the row of a configuration; none if there is nothing to prove with.
    pub(crate) async fn seal_proof(
        &self,
        task: &str,
        id: &str,
        url: &str,
        proof: &WebhookProof,
    ) -> Result<Option<Vec<u8>>, KeyStoreError> {
        if proof.is_empty() {
            return Ok(None);
        }
        let text = serde_json::to_string(proof).map_err(|_| KeyStoreError::TooLarge)?;
        self.sealer.seal(&[task, id, url], &SecretBytes::from(text)).await.map(Some)
    }

    /// Saves a configuration, in place of one with the same id.
    pub(crate) async fn save_notification(
        &self,
        task: &str,
        notification: &Notification,
    ) -> Result<(), KeyStoreError> {
        let Notification { id, url, proof, .. } = notification;
        let sealed = self.seal_proof(task, id, url, proof).await?;
        let sent = i64::try_from(notification.sent).unwrap_or(i64::MAX);
        let statement = Statement::new(
            "INSERT INTO a2a_notifications (task, id, url, scheme, sealed, version, sent, done) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
             ON CONFLICT (task, id) DO UPDATE SET url = excluded.url, token = NULL, \
             scheme = excluded.scheme, credentials = NULL, sealed = excluded.sealed, \
             version = excluded.version, sent = excluded.sent, done = excluded.done",
        )
        .bind(task)
        .bind(notification.id.as_str())
        .bind(notification.url.as_str())
        .bind(notification.scheme.clone())
        .bind(sealed)
        .bind(notification.version.as_str())
        .bind(sent)
        .bind(notification.done);
        self.database.write(Batch::from(statement)).await?;
        Ok(())
    }

    /// Returns the configurations of a task, by id.
    pub(crate) async fn list_notifications(
        &self,
        task: &str,
    ) -> Result<Vec<Notification>, KeyStoreError> {
        let sql = format!("SELECT {COLUMNS} FROM {TABLE} WHERE task = $1 ORDER BY id");
        let rows = self.database.query(Statement::new(sql).bind(task)).await?;
        let mut notifications = Vec::with_capacity(rows.len());
        for row in &rows {
            let StoredNotification { mut notification, sealed } = read_notification(row)?;
            if let Some(sealed) = sealed {
                let place = [task, &notification.id, &notification.url];
                let text = self.sealer.open(&place, &sealed).await?;
                notification.proof = serde_json::from_slice(text.reveal())
                    .map_err(|_| StoreError::Query { reason: "a proof is not readable".into() })?;
            }
            notifications.push(notification);
        }
        Ok(notifications)
    }

    /// Returns the ids of the configurations of a task.
    pub(crate) async fn list_notification_ids(
        &self,
        task: &str,
    ) -> Result<Vec<String>, StoreError> {
        let statement = Statement::new(format!("SELECT id FROM {TABLE} WHERE task = $1"));
        let rows = self.database.query(statement.bind(task)).await?;
        rows.iter().map(|row| row.text(0).map(str::to_owned)).collect()
    }

    /// Tells whether a task has notifications that are not done.
    pub(crate) async fn has_open_notifications(&self, task: &str) -> Result<bool, StoreError> {
        let sql = format!("SELECT id FROM {TABLE} WHERE task = $1 AND done = 0 LIMIT 1");
        Ok(!self.database.query(Statement::new(sql).bind(task)).await?.is_empty())
    }

    /// Encrypts what an earlier version stored in plain text, and erases it from the database's files; an
    /// erasure that did not succeed is made up for. Returns the number of configurations.
    pub(crate) async fn seal_plain_proofs(&self) -> Result<usize, KeyStoreError> {
        let sql = format!(
            "SELECT {COLUMNS}, task FROM {TABLE} \
             WHERE token IS NOT NULL OR credentials IS NOT NULL"
        );
        let rows = self.database.query(Statement::new(sql)).await?;
        for row in &rows {
            let (stored, task) = (read_notification(row)?, row.text(9)?);
            let Notification { id, url, proof, .. } = &stored.notification;
            let sealed = self.seal_proof(task, id, url, proof).await?;
            // A configuration that was replaced or sealed meanwhile stays as it is.
            let statement = Statement::new(format!(
                "UPDATE {TABLE} SET sealed = $1, token = NULL, credentials = NULL \
                 WHERE task = $2 AND id = $3 AND url = $4 AND sealed IS NULL"
            ))
            .bind(sealed)
            .bind(task)
            .bind(id.as_str())
            .bind(url.as_str());
            let due = "INSERT INTO a2a_erasures (name) VALUES ($1) ON CONFLICT (name) DO NOTHING";
            let due = Statement::new(due).bind(TABLE);
            self.database.write(Batch::new().with(statement).with(due)).await?;
        }
        self.erase_plain_text().await?;
        Ok(rows.len())
    }

    /// Erases what was sealed from the database's files, unless that was done.
    async fn erase_plain_text(&self) -> Result<(), StoreError> {
        let due = Statement::new("SELECT name FROM a2a_erasures WHERE name = $1").bind(TABLE);
        if self.database.query(due).await?.is_empty() {
            return Ok(());
        }
        match self.database.rewrite_tables(&[TABLE]).await {
            Ok(()) => {
                let done = Statement::new("DELETE FROM a2a_erasures WHERE name = $1").bind(TABLE);
                self.database.write(done.into()).await.map(drop)
            }
            // Others read the database; the next command that opens the vault does it.
            Err(StoreError::Busy { .. }) => Ok(()),
            Err(error) => Err(error),
        }
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

fn read_notification(row: &Row) -> Result<StoredNotification, StoreError> {
    let optional = |column| row.optional_text(column).map(|text| text.map(str::to_owned));
    let notification = Notification {
        id: row.text(0)?.to_owned(),
        url: row.text(1)?.to_owned(),
        scheme: optional(3)?,
        proof: WebhookProof { token: optional(2)?, credentials: optional(4)? },
        version: row.text(5)?.to_owned(),
        sent: row.unsigned(6)?,
        done: row.boolean(7)?,
    };
    Ok(StoredNotification { notification, sealed: row.optional_blob(8)?.map(<[u8]>::to_vec) })
}
