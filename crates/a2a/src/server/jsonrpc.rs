//! Implements the JSON-RPC binding: one address, with the method in the body.

use std::sync::Arc;

use a2a::methods;
use axum::body::Body;
use axum::http::{HeaderMap, Response, StatusCode, Uri, header};
use lango_protocol::Caller;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::EndpointState;
use super::live::CallerReply;
use super::request::{self, ProtocolVersion};
use super::send::RequestMetadata;
use super::sse;
use super::stream::Subscription;
use crate::wire::error::ProtocolError;
use crate::wire::{VERSION_1, names};

const MAX_REQUEST_ID_BYTES: usize = 256;

/// The result of a call.
pub(super) enum CallResult {
    Result(Value),
    Stream(Subscription),
}

/// A parsed call.
pub(super) struct RpcCall<'a> {
    pub(super) caller: &'a Caller,
    pub(super) method: &'a str,
    params: Value,
    pub(super) traceparent: Option<String>,
}

impl RpcCall<'_> {
    /// Deserializes the parameters.
    pub(super) fn params<T: DeserializeOwned>(&mut self) -> Result<T, ProtocolError> {
        serde_json::from_value(self.params.take()).map_err(|error| ProtocolError::InvalidParams {
            message: format!("the parameters are not those of {}: {error}", self.method),
            violations: Vec::new(),
        })
    }

    pub(super) fn metadata(&self, version: &'static str) -> RequestMetadata {
        RequestMetadata { traceparent: self.traceparent.clone(), version }
    }
}

/// Answers a request.
pub(super) async fn answer_rpc(
    endpoint: &Arc<EndpointState>,
    caller: &Caller,
    headers: &HeaderMap,
    uri: &Uri,
    body: Body,
) -> Response<Body> {
    // Checked before the body is read, because a body of another type need not be parsed.
    if request::read_media_type(headers).as_deref() != Some("application/json") {
        let message = "the body must be application/json".to_owned();
        return respond_with_error(&Value::Null, &ProtocolError::ContentTypeNotSupported(message));
    }
    let body = match request::read_body(body, endpoint.tasks.settings.body_bytes).await {
        Ok(body) => body,
        Err(error) => return respond_with_error(&Value::Null, &error),
    };
    let mut envelope: Value = match serde_json::from_slice(&body) {
        Ok(envelope) => envelope,
        Err(error) => {
            return respond_with_error(&Value::Null, &ProtocolError::Parse(error.to_string()));
        }
    };
    let id = envelope.get("id").cloned().unwrap_or_default();
    // The id is repeated in every answer and every event of a stream.
    let is_id = match &id {
        Value::String(id) => id.len() <= MAX_REQUEST_ID_BYTES,
        other => matches!(other, Value::Number(_) | Value::Null),
    };
    let method = envelope.get("method").and_then(Value::as_str).map(str::to_owned);
    let known = envelope.get("jsonrpc").and_then(Value::as_str) == Some("2.0");
    let (Some(method), true, true) = (method, known, is_id) else {
        let message = format!(
            "this is not one request of JSON-RPC 2.0 with an id of at most {MAX_REQUEST_ID_BYTES} bytes"
        );
        let id = if is_id { id } else { Value::Null };
        return respond_with_error(&id, &ProtocolError::InvalidRequest(message));
    };
    let version = match request::read_version(headers, uri) {
        Ok(version) => version,
        Err(error) => return respond_with_error(&id, &error),
    };
    let mut params = envelope.get_mut("params").map(Value::take).unwrap_or_default();
    if params.is_null() {
        params = json!({});
    }
    names::normalise(&mut params);
    let traceparent = request::read_traceparent(headers);
    let call = RpcCall { caller, method: &method, params, traceparent };
    let outcome = match version {
        ProtocolVersion::V1 => dispatch(endpoint, call).await,
        ProtocolVersion::V03 if endpoint.tasks.settings.speak_03 => {
            super::legacy::dispatch(endpoint, call).await
        }
        ProtocolVersion::V03 => Err(ProtocolError::VersionNotSupported("0.3".to_owned())),
    };
    match outcome {
        Ok(CallResult::Result(result)) => respond_with_document(
            StatusCode::OK,
            &json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        ),
        Ok(CallResult::Stream(subscription)) => {
            respond_with_stream(endpoint, subscription, &id, version)
        }
        Err(error) => respond_with_error(&id, &error),
    }
}

async fn dispatch(
    endpoint: &Arc<EndpointState>,
    mut call: RpcCall<'_>,
) -> Result<CallResult, ProtocolError> {
    let tasks = &endpoint.tasks;
    let caller = call.caller;
    let result = match call.method {
        methods::SEND_MESSAGE => {
            let reply =
                tasks.send_message(caller, call.params()?, call.metadata(VERSION_1)).await?;
            to_json(&send_response(reply))?
        }
        methods::SEND_STREAMING_MESSAGE => {
            let params = call.params()?;
            let stream = tasks.send_streaming(caller, params, call.metadata(VERSION_1)).await?;
            return Ok(CallResult::Stream(stream));
        }
        methods::GET_TASK => {
            let params: a2a::GetTaskRequest = call.params()?;
            to_json(&tasks.get_task(caller, &params.id, params.history_length).await?)?
        }
        methods::LIST_TASKS => to_json(&tasks.list_tasks(caller, call.params()?).await?)?,
        methods::CANCEL_TASK => {
            let params: a2a::CancelTaskRequest = call.params()?;
            to_json(&tasks.cancel_task(caller, &params.id).await?)?
        }
        methods::SUBSCRIBE_TO_TASK => {
            let params: a2a::SubscribeToTaskRequest = call.params()?;
            return Ok(CallResult::Stream(tasks.subscribe_to_task(caller, &params.id).await?));
        }
        methods::CREATE_PUSH_CONFIG => {
            require_notifications(endpoint)?;
            to_json(&tasks.create_notification(caller, call.params()?, VERSION_1).await?)?
        }
        methods::GET_PUSH_CONFIG => {
            require_notifications(endpoint)?;
            let params: a2a::GetTaskPushNotificationConfigRequest = call.params()?;
            to_json(&tasks.get_notification(caller, &params.task_id, &params.id).await?)?
        }
        methods::LIST_PUSH_CONFIGS => {
            require_notifications(endpoint)?;
            let params: a2a::ListTaskPushNotificationConfigsRequest = call.params()?;
            render_configs(&tasks.list_notifications(caller, &params.task_id).await?)
        }
        methods::DELETE_PUSH_CONFIG => {
            require_notifications(endpoint)?;
            let params: a2a::DeleteTaskPushNotificationConfigRequest = call.params()?;
            tasks.delete_notification(caller, &params.task_id, &params.id).await?;
            json!({})
        }
        methods::GET_EXTENDED_AGENT_CARD => endpoint.extended_card(caller)?,
        other => return Err(ProtocolError::MethodNotFound(other.chars().take(80).collect())),
    };
    Ok(CallResult::Result(result))
}

/// Checks that notifications are supported. Called before the parameters are parsed.
pub(super) fn require_notifications(endpoint: &EndpointState) -> Result<(), ProtocolError> {
    if endpoint.tasks.notifies() { Ok(()) } else { Err(ProtocolError::PushNotSupported) }
}

pub(super) fn send_response(reply: CallerReply) -> a2a::SendMessageResponse {
    match reply {
        CallerReply::Task(task) => a2a::SendMessageResponse::Task(task),
        CallerReply::Message(message) => a2a::SendMessageResponse::Message(message),
    }
}

pub(super) fn render_configs(all: &[a2a::TaskPushNotificationConfig]) -> Value {
    json!({ "configs": all, "nextPageToken": "" })
}

pub(super) fn to_json<T: Serialize>(result: &T) -> Result<Value, ProtocolError> {
    serde_json::to_value(result).map_err(super::tasks::internal_error)
}

fn respond_with_stream(
    endpoint: &EndpointState,
    subscription: Subscription,
    id: &Value,
    version: ProtocolVersion,
) -> Response<Body> {
    let id = id.to_string();
    let render = move |update: &a2a::StreamResponse| {
        let update = match version {
            ProtocolVersion::V1 => serde_json::to_string(update),
            ProtocolVersion::V03 => {
                serde_json::to_string(&crate::wire::v03::Event::from(update.clone()))
            }
        };
        // The types of the protocol always have a form in JSON.
        let update = update.unwrap_or_default();
        format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{update}}}")
    };
    sse::respond_with_events(subscription, Box::new(render), endpoint.tasks.settings.keep_alive)
}

fn respond_with_error(id: &Value, error: &ProtocolError) -> Response<Body> {
    // Errors of the protocol are answers with status 200; those of the transport must be visible to
    // proxies too.
    let status = match error {
        ProtocolError::TooLarge(_) | ProtocolError::AccessDenied | ProtocolError::TooMany(_) => {
            StatusCode::from_u16(error.http_status()).unwrap_or(StatusCode::BAD_REQUEST)
        }
        _ => StatusCode::OK,
    };
    respond_with_document(status, &json!({ "jsonrpc": "2.0", "id": id, "error": error.to_rpc() }))
}

fn respond_with_document(status: StatusCode, document: &Value) -> Response<Body> {
    // These headers are always valid.
    Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, "application/json")
        .body(Body::from(document.to_string()))
        .unwrap_or_default()
}
