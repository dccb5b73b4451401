//! Defines the requests of 0.3.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::part::Message;

type Metadata = Option<HashMap<String, Value>>;

/// The parameters of `message/send` and `message/stream`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct SendParams {
    pub message: Message,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub configuration: Option<Configuration>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metadata: Metadata,
}

/// The options for the answer to a message.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the names say it")]
pub struct Configuration {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub accepted_output_modes: Option<Vec<String>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocking: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history_length: Option<i32>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push_notification_config: Option<NotificationConfig>,
}

/// The address of a webhook and its credentials.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct NotificationConfig {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    pub url: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authentication: Option<Authentication>,
}

/// The credentials of a notification.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Authentication {
    pub schemes: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub credentials: Option<String>,
}

/// The parameters of `tasks/get`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the names say it")]
pub struct TaskQuery {
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub history_length: Option<i32>,
}

/// The parameters of `tasks/cancel` and `tasks/resubscribe`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct TaskId {
    pub id: String,
}

/// A configuration with its task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the names say it")]
pub struct TaskNotification {
    pub task_id: String,
    pub push_notification_config: NotificationConfig,
}

/// The parameters of `tasks/pushNotificationConfig/get` and `/list`; the id is the task's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the names say it")]
pub struct ListNotifications {
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub push_notification_config_id: Option<String>,
}

/// The parameters of `tasks/pushNotificationConfig/delete`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the names say it")]
pub struct DeleteNotification {
    pub id: String,
    pub push_notification_config_id: String,
}

impl TryFrom<SendParams> for a2a::SendMessageRequest {
    type Error = String;

    fn try_from(params: SendParams) -> Result<Self, String> {
        let configuration = params.configuration.map(|old| a2a::SendMessageConfiguration {
            accepted_output_modes: old.accepted_output_modes,
            task_push_notification_config: old.push_notification_config.map(|config| {
                TaskNotification { task_id: String::new(), push_notification_config: config }.into()
            }),
            history_length: old.history_length,
            return_immediately: old.blocking.map(|blocking| !blocking),
        });
        Ok(Self {
            message: params.message.try_into()?,
            configuration,
            metadata: params.metadata,
            tenant: None,
        })
    }
}

impl From<TaskNotification> for a2a::TaskPushNotificationConfig {
    fn from(old: TaskNotification) -> Self {
        let config = old.push_notification_config;
        let authentication = config.authentication.and_then(|authentication| {
            let scheme = authentication.schemes.into_iter().next()?;
            Some(a2a::AuthenticationInfo { scheme, credentials: authentication.credentials })
        });
        Self {
            url: config.url,
            id: config.id,
            task_id: old.task_id,
            token: config.token,
            authentication,
            tenant: None,
        }
    }
}

impl From<a2a::TaskPushNotificationConfig> for TaskNotification {
    fn from(config: a2a::TaskPushNotificationConfig) -> Self {
        let authentication = config.authentication.map(|authentication| Authentication {
            schemes: vec![authentication.scheme],
            credentials: authentication.credentials,
        });
        Self {
            task_id: config.task_id,
            push_notification_config: NotificationConfig {
                id: config.id,
                url: config.url,
                token: config.token,
                authentication,
            },
        }
    }
}
