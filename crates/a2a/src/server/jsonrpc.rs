//! The JSON-RPC binding: one address, the method in the body.

use std::sync::Arc;

use a2a::methods;
use axum::body::Body;
use axum::http::{HeaderMap, Response, StatusCode, Uri, header};
use lango_protocol::Caller;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::Door;
use super::live::Reply;
use super::request::{self, Version};
use super::send::Beside;
use super::sse;
use super::stream::Subscription;
use crate::wire::error::ProtocolError;
use crate::wire::{VERSION_1, names};

const LONGEST_ID: usize = 256;

/// What a call comes to.
pub(super) enum Outcome {
    Result(Value),
    Stream(Subscription),
}

/// One call, taken apart.
pub(super) struct Call<'a> {
    pub(super) caller: &'a Caller,
    pub(super) method: &'a str,
    params: Value,
    pub(super) traceparent: Option<String>,
}

impl Call<'_> {
    /// The parameters as a type.
    pub(super) fn params<T: DeserializeOwned>(&mut self) -> Result<T, ProtocolError> {
        serde_json::from_value(self.params.take()).map_err(|error| ProtocolError::InvalidParams {
            message: format!("the parameters are not those of {}: {error}", self.method),
            violations: Vec::new(),
        })
    }

    pub(super) fn beside(&self, version: &'static str) -> Beside {
        Beside { traceparent: self.traceparent.clone(), version }
    }
}

/// Answers a request.
pub(super) async fn answer(
    door: &Arc<Door>,
    caller: &Caller,
    headers: &HeaderMap,
    uri: &Uri,
    body: Body,
) -> Response<Body> {
    // Before the body is looked at: what is not JSON need not be read as JSON.
    if request::media_type(headers).as_deref() != Some("application/json") {
        let message = "the body must be application/json".to_owned();
        return failure(&Value::Null, &ProtocolError::ContentTypeNotSupported(message));
    }
    let body = match request::read_body(body, door.tasks.settings.body_bytes).await {
        Ok(body) => body,
        Err(error) => return failure(&Value::Null, &error),
    };
    let mut envelope: Value = match serde_json::from_slice(&body) {
        Ok(envelope) => envelope,
        Err(error) => return failure(&Value::Null, &ProtocolError::Parse(error.to_string())),
    };
    let id = envelope.get("id").cloned().unwrap_or_default();
    // It is said again in every answer and every event of a stream.
    let is_id = match &id {
        Value::String(id) => id.len() <= LONGEST_ID,
        other => matches!(other, Value::Number(_) | Value::Null),
    };
    let method = envelope.get("method").and_then(Value::as_str).map(str::to_owned);
    let known = envelope.get("jsonrpc").and_then(Value::as_str) == Some("2.0");
    let (Some(method), true, true) = (method, known, is_id) else {
        let message = format!(
            "this is not one request of JSON-RPC 2.0 with an id of at most {LONGEST_ID} bytes"
        );
        let id = if is_id { id } else { Value::Null };
        return failure(&id, &ProtocolError::InvalidRequest(message));
    };
    let version = match request::version(headers, uri) {
        Ok(version) => version,
        Err(error) => return failure(&id, &error),
    };
    let mut params = envelope.get_mut("params").map(Value::take).unwrap_or_default();
    if params.is_null() {
        params = json!({});
    }
    names::normalise(&mut params);
    let traceparent = request::traceparent(headers);
    let call = Call { caller, method: &method, params, traceparent };
    let outcome = match version {
        Version::V1 => dispatch(door, call).await,
        Version::V03 if door.tasks.settings.speak_03 => super::legacy::dispatch(door, call).await,
        Version::V03 => Err(ProtocolError::VersionNotSupported("0.3".to_owned())),
    };
    match outcome {
        Ok(Outcome::Result(result)) => {
            document(StatusCode::OK, &json!({ "jsonrpc": "2.0", "id": id, "result": result }))
        }
        Ok(Outcome::Stream(subscription)) => stream(door, subscription, &id, version),
        Err(error) => failure(&id, &error),
    }
}

async fn dispatch(door: &Arc<Door>, mut call: Call<'_>) -> Result<Outcome, ProtocolError> {
    let tasks = &door.tasks;
    let caller = call.caller;
    let result = match call.method {
        methods::SEND_MESSAGE => {
            let reply = tasks.send(caller, call.params()?, call.beside(VERSION_1)).await?;
            value(&response(reply))?
        }
        methods::SEND_STREAMING_MESSAGE => {
            let params = call.params()?;
            let stream = tasks.send_streaming(caller, params, call.beside(VERSION_1)).await?;
            return Ok(Outcome::Stream(stream));
        }
        methods::GET_TASK => {
            let asked: a2a::GetTaskRequest = call.params()?;
            value(&tasks.get(caller, &asked.id, asked.history_length).await?)?
        }
        methods::LIST_TASKS => value(&tasks.list(caller, call.params()?).await?)?,
        methods::CANCEL_TASK => {
            let asked: a2a::CancelTaskRequest = call.params()?;
            value(&tasks.cancel(caller, &asked.id).await?)?
        }
        methods::SUBSCRIBE_TO_TASK => {
            let asked: a2a::SubscribeToTaskRequest = call.params()?;
            return Ok(Outcome::Stream(tasks.subscribe(caller, &asked.id).await?));
        }
        methods::CREATE_PUSH_CONFIG => {
            require_notifications(door)?;
            value(&tasks.create_notification(caller, call.params()?, VERSION_1).await?)?
        }
        methods::GET_PUSH_CONFIG => {
            require_notifications(door)?;
            let asked: a2a::GetTaskPushNotificationConfigRequest = call.params()?;
            value(&tasks.get_notification(caller, &asked.task_id, &asked.id).await?)?
        }
        methods::LIST_PUSH_CONFIGS => {
            require_notifications(door)?;
            let asked: a2a::ListTaskPushNotificationConfigsRequest = call.params()?;
            configs(&tasks.list_notifications(caller, &asked.task_id).await?)
        }
        methods::DELETE_PUSH_CONFIG => {
            require_notifications(door)?;
            let asked: a2a::DeleteTaskPushNotificationConfigRequest = call.params()?;
            tasks.delete_notification(caller, &asked.task_id, &asked.id).await?;
            json!({})
        }
        methods::GET_EXTENDED_AGENT_CARD => door.extended_card(caller)?,
        other => return Err(ProtocolError::MethodNotFound(other.chars().take(80).collect())),
    };
    Ok(Outcome::Result(result))
}

/// Before the parameters are looked at: where there are none, nothing is worth a look.
pub(super) fn require_notifications(door: &Door) -> Result<(), ProtocolError> {
    if door.tasks.notifies() { Ok(()) } else { Err(ProtocolError::PushNotSupported) }
}

pub(super) fn response(reply: Reply) -> a2a::SendMessageResponse {
    match reply {
        Reply::Task(task) => a2a::SendMessageResponse::Task(task),
        Reply::Message(message) => a2a::SendMessageResponse::Message(message),
    }
}

pub(super) fn configs(all: &[a2a::TaskPushNotificationConfig]) -> Value {
    json!({ "configs": all, "nextPageToken": "" })
}

pub(super) fn value<T: Serialize>(result: &T) -> Result<Value, ProtocolError> {
    serde_json::to_value(result).map_err(|_| ProtocolError::Internal)
}

fn stream(door: &Door, subscription: Subscription, id: &Value, version: Version) -> Response<Body> {
    let id = id.to_string();
    let render = move |update: &a2a::StreamResponse| {
        let update = match version {
            Version::V1 => serde_json::to_string(update),
            Version::V03 => serde_json::to_string(&crate::wire::v03::Event::from(update.clone())),
        };
        let update = update.unwrap_or_default();
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{update}}}")
    };
    sse::answer(subscription, Box::new(render), door.tasks.settings.keep_alive)
}

fn failure(id: &Value, error: &ProtocolError) -> Response<Body> {
    // The errors of the protocol are answers; those of the transport are seen by proxies too.
    let status = match error {
        ProtocolError::TooLarge(_) | ProtocolError::NotLetIn | ProtocolError::TooMany(_) => {
            StatusCode::from_u16(error.http_status()).unwrap_or(StatusCode::BAD_REQUEST)
        }
        _ => StatusCode::OK,
    };
    document(status, &json!({ "jsonrpc": "2.0", "id": id, "error": error.to_rpc() }))
}

fn document(status: StatusCode, document: &Value) -> Response<Body> {
    Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(document.to_string()))
        .unwrap_or_default()
}
