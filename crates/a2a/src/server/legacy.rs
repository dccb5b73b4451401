//! Protocol 0.3 at the JSON-RPC address: other names and shapes, the same tasks.

use std::sync::Arc;

use serde_json::Value;

use super::Door;
use super::jsonrpc::{Call, Outcome, require_notifications, value};
use super::live::Reply;
use crate::wire::VERSION_03;
use crate::wire::error::ProtocolError;
use crate::wire::v03::{self, methods};

pub(super) async fn dispatch(
    door: &Arc<Door>,
    mut call: Call<'_>,
) -> Result<Outcome, ProtocolError> {
    let tasks = &door.tasks;
    let caller = call.caller;
    let result = match call.method {
        methods::SEND => {
            let request = send_request(&mut call)?;
            match tasks.send(caller, request, call.beside(VERSION_03)).await? {
                Reply::Task(task) => value(&v03::Task::from(task))?,
                Reply::Message(message) => value(&v03::Message::from(message))?,
            }
        }
        methods::STREAM => {
            let request = send_request(&mut call)?;
            let stream = tasks.send_streaming(caller, request, call.beside(VERSION_03)).await?;
            return Ok(Outcome::Stream(stream));
        }
        methods::GET => {
            let asked: v03::TaskQuery = call.params()?;
            value(&v03::Task::from(tasks.get(caller, &asked.id, asked.history_length).await?))?
        }
        methods::CANCEL => {
            let asked: v03::TaskId = call.params()?;
            value(&v03::Task::from(tasks.cancel(caller, &asked.id).await?))?
        }
        methods::RESUBSCRIBE => {
            let asked: v03::TaskId = call.params()?;
            return Ok(Outcome::Stream(tasks.subscribe(caller, &asked.id).await?));
        }
        methods::SET_NOTIFICATION => {
            require_notifications(door)?;
            let asked: v03::TaskNotification = call.params()?;
            let mut config = a2a::TaskPushNotificationConfig::from(asked);
            // In 0.3 a task had one configuration, unless it was given an id.
            config.id = config.id.or_else(|| Some(config.task_id.clone()));
            let kept = tasks.create_notification(caller, config, VERSION_03).await?;
            value(&v03::TaskNotification::from(kept))?
        }
        methods::GET_NOTIFICATION => {
            require_notifications(door)?;
            let asked: v03::ListNotifications = call.params()?;
            let id = asked.push_notification_config_id.as_deref().unwrap_or(&asked.id);
            let found = tasks.get_notification(caller, &asked.id, id).await?;
            value(&v03::TaskNotification::from(found))?
        }
        methods::LIST_NOTIFICATIONS => {
            require_notifications(door)?;
            let asked: v03::ListNotifications = call.params()?;
            let all = tasks.list_notifications(caller, &asked.id).await?;
            let all: Vec<v03::TaskNotification> = all.into_iter().map(Into::into).collect();
            value(&all)?
        }
        methods::DELETE_NOTIFICATION => {
            require_notifications(door)?;
            let asked: v03::DeleteNotification = call.params()?;
            let id = &asked.push_notification_config_id;
            tasks.delete_notification(caller, &asked.id, id).await?;
            Value::Null
        }
        methods::EXTENDED_CARD => door.extended_card(caller)?,
        other => return Err(ProtocolError::MethodNotFound(other.chars().take(80).collect())),
    };
    Ok(Outcome::Result(result))
}

fn send_request(call: &mut Call<'_>) -> Result<a2a::SendMessageRequest, ProtocolError> {
    let params: v03::SendParams = call.params()?;
    params.try_into().map_err(|reason: String| ProtocolError::invalid("message.parts", reason))
}
