//! Implements protocol 0.3 at the JSON-RPC address: other names and shapes for the same tasks.

use std::sync::Arc;

use serde_json::Value;

use super::EndpointState;
use super::jsonrpc::{CallResult, RpcCall, require_notifications, to_json};
use super::live::CallerReply;
use crate::wire::VERSION_03;
use crate::wire::error::ProtocolError;
use crate::wire::v03::{self, methods};

pub(super) async fn dispatch(
    endpoint: &Arc<EndpointState>,
    mut call: RpcCall<'_>,
) -> Result<CallResult, ProtocolError> {
    let tasks = &endpoint.tasks;
    let caller = call.caller;
    let result = match call.method {
        methods::SEND => {
            let request = send_request(&mut call)?;
            match tasks.send_message(caller, request, call.metadata(VERSION_03)).await? {
                CallerReply::Task(task) => to_json(&v03::Task::from(task))?,
                CallerReply::Message(message) => to_json(&v03::Message::from(message))?,
            }
        }
        methods::STREAM => {
            let request = send_request(&mut call)?;
            let stream = tasks.send_streaming(caller, request, call.metadata(VERSION_03)).await?;
            return Ok(CallResult::Stream(stream));
        }
        methods::GET => {
            let params: v03::TaskQuery = call.params()?;
            to_json(&v03::Task::from(
                tasks.get_task(caller, &params.id, params.history_length).await?,
            ))?
        }
        methods::CANCEL => {
            let params: v03::TaskId = call.params()?;
            to_json(&v03::Task::from(tasks.cancel_task(caller, &params.id).await?))?
        }
        methods::RESUBSCRIBE => {
            let params: v03::TaskId = call.params()?;
            return Ok(CallResult::Stream(tasks.subscribe_to_task(caller, &params.id).await?));
        }
        methods::SET_NOTIFICATION => {
            require_notifications(endpoint)?;
            let params: v03::TaskNotification = call.params()?;
            let mut config = a2a::TaskPushNotificationConfig::from(params);
            // In 0.3 a task has one configuration, unless it has an id.
            config.id = config.id.or_else(|| Some(config.task_id.clone()));
            let kept = tasks.create_notification(caller, config, VERSION_03).await?;
            to_json(&v03::TaskNotification::from(kept))?
        }
        methods::GET_NOTIFICATION => {
            require_notifications(endpoint)?;
            let params: v03::ListNotifications = call.params()?;
            let id = params.push_notification_config_id.as_deref().unwrap_or(&params.id);
            let found = tasks.get_notification(caller, &params.id, id).await?;
            to_json(&v03::TaskNotification::from(found))?
        }
        methods::LIST_NOTIFICATIONS => {
            require_notifications(endpoint)?;
            let params: v03::ListNotifications = call.params()?;
            let all = tasks.list_notifications(caller, &params.id).await?;
            let all: Vec<v03::TaskNotification> = all.into_iter().map(Into::into).collect();
            to_json(&all)?
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
    Ok(CallResult::Result(result))
}

fn send_request(call: &mut RpcCall<'_>) -> Result<a2a::SendMessageRequest, ProtocolError> {
    let params: v03::SendParams = call.params()?;
    params
        .try_into()
        .map_err(|reason: String| ProtocolError::invalid_field("message.parts", reason))
}
