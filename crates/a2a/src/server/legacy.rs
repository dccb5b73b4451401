//! Implements protocol 0.3 at the JSON-RPC address: other names and shapes for the same tasks.

use std::sync::Arc;

use serde_json::Value;

use super::EndpointState;
use super::jsonrpc::{Call, Outcome, require_notifications, value};
use super::live::Reply;
use crate::wire::VERSION_03;
use crate::wire::error::ProtocolError;
use crate::wire::v03::{self, methods};

pub(super) async fn dispatch(
    endpoint: &Arc<EndpointState>,
    mut call: Call<'_>,
) -> Result<Outcome, ProtocolError> {
    let tasks = &endpoint.tasks;
    let caller = call.caller;
    let result = match call.method {
        methods::SEND => {
            let request = send_request(&mut call)?;
            match tasks.send(caller, request, call.metadata(VERSION_03)).await? {
                Reply::Task(task) => value(&v03::Task::from(task))?,
                Reply::Message(message) => value(&v03::Message::from(message))?,
            }
        }
        methods::STREAM => {
            let request = send_request(&mut call)?;
            let stream = tasks.send_streaming(caller, request, call.metadata(VERSION_03)).await?;
            return Ok(Outcome::Stream(stream));
        }
        methods::GET => {
            let params: v03::TaskQuery = call.params()?;
            value(&v03::Task::from(tasks.get(caller, &params.id, params.history_length).await?))?
        }
        methods::CANCEL => {
            let params: v03::TaskId = call.params()?;
            value(&v03::Task::from(tasks.cancel(caller, &params.id).await?))?
        }
        methods::RESUBSCRIBE => {
            let params: v03::TaskId = call.params()?;
            return Ok(Outcome::Stream(tasks.subscribe(caller, &params.id).await?));
        }
        methods::SET_NOTIFICATION => {
            require_notifications(endpoint)?;
            let params: v03::TaskNotification = call.params()?;
            let mut config = a2a::TaskPushNotificationConfig::from(params);
            // In 0.3 a task has one configuration, unless it has an id.
            config.id = config.id.or_else(|| Some(config.task_id.clone()));
            let kept = tasks.create_notification(caller, config, VERSION_03).await?;
            value(&v03::TaskNotification::from(kept))?
        }
        methods::GET_NOTIFICATION => {
            require_notifications(endpoint)?;
            let params: v03::ListNotifications = call.params()?;
            let id = params.push_notification_config_id.as_deref().unwrap_or(&params.id);
            let found = tasks.get_notification(caller, &params.id, id).await?;
            value(&v03::TaskNotification::from(found))?
        }
        methods::LIST_NOTIFICATIONS => {
            require_notifications(endpoint)?;
            let params: v03::ListNotifications = call.params()?;
            let all = tasks.list_notifications(caller, &params.id).await?;
            let all: Vec<v03::TaskNotification> = all.into_iter().map(Into::into).collect();
            value(&all)?
        }
        methods::DELETE_NOTIFICATION => {
            require_notifications(endpoint)?;
            let params: v03::DeleteNotification = call.params()?;
            let id = &params.push_notification_config_id;
            tasks.delete_notification(caller, &params.id, id).await?;
            Value::Null
        }
        methods::EXTENDED_CARD => endpoint.extended_card(caller)?,
        other => return Err(ProtocolError::MethodNotFound(other.chars().take(80).collect())),
    };
    Ok(Outcome::Result(result))
}

fn send_request(call: &mut Call<'_>) -> Result<a2a::SendMessageRequest, ProtocolError> {
    let params: v03::SendParams = call.params()?;
    params.try_into().map_err(|reason: String| ProtocolError::invalid("message.parts", reason))
}
