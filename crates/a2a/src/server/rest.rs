//! Implements the HTTP+JSON binding: a path and a method for every operation.

use std::sync::Arc;

use a2a::{ListTasksRequest, TaskPushNotificationConfig, TaskState};
use axum::body::Body;
use axum::http::{HeaderMap, Method, Response, StatusCode, Uri, header};
use lango_protocol::Caller;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::EndpointState;
use super::jsonrpc::{CallResult, render_configs, require_notifications, send_response, to_json};
use super::request::{self, ProtocolVersion, find_query_parameter};
use super::send::RequestMetadata;
use super::sse;
use crate::wire::error::ProtocolError;
use crate::wire::{MEDIA_TYPE, VERSION_1, names};

/// A parsed request.
struct RestCall<'a> {
    caller: &'a Caller,
    headers: &'a HeaderMap,
    uri: &'a Uri,
    body: Body,
}

/// Answers a request; `path` is the part after the binding's path.
pub(super) async fn answer_rest(
    endpoint: &Arc<EndpointState>,
    caller: &Caller,
    method: &Method,
    path: &str,
    headers: &HeaderMap,
    uri: &Uri,
    body: Body,
) -> Response<Body> {
    let call = RestCall { caller, headers, uri, body };
    let plain = request::wants_plain_json(headers);
    match dispatch(endpoint, method, path, call).await {
        Ok(CallResult::Result(result)) => respond_with_document(StatusCode::OK, &result, plain),
        Ok(CallResult::Stream(subscription)) => {
            // The types of the protocol always have a form in JSON.
            let render =
                |update: &a2a::StreamResponse| serde_json::to_string(update).unwrap_or_default();
            sse::respond_with_events(
                subscription,
                Box::new(render),
                endpoint.tasks.settings.keep_alive,
            )
        }
        Err(error) => {
            let status = StatusCode::from_u16(error.http_status());
            let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
            respond_with_document(status, &error.to_http(), plain)
        }
    }
}

async fn dispatch(
    endpoint: &Arc<EndpointState>,
    method: &Method,
    path: &str,
    call: RestCall<'_>,
) -> Result<CallResult, ProtocolError> {
    if request::read_version(call.headers, call.uri)? == ProtocolVersion::V03 {
        // 0.3 is served at the JSON-RPC path.
        return Err(ProtocolError::VersionNotSupported("0.3".to_owned()));
    }
    let segments: Vec<String> = path.trim_matches('/').split('/').map(percent_decode).collect();
    let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
    let (get, post, delete) =
        (*method == Method::GET, *method == Method::POST, *method == Method::DELETE);
    let tasks = &endpoint.tasks;
    let caller = call.caller;
    let result = match segments[..] {
        ["message:send"] if post => {
            let metadata = call.metadata();
            let reply = tasks.send_message(caller, call.read(endpoint).await?, metadata).await?;
            to_json(&send_response(reply))?
        }
        ["message:stream"] if post => {
            let metadata = call.metadata();
            let request = call.read(endpoint).await?;
            return Ok(CallResult::Stream(tasks.send_streaming(caller, request, metadata).await?));
        }
        ["extendedAgentCard"] if get => endpoint.extended_card(caller)?,
        ["tasks"] if get => {
            to_json(&tasks.list_tasks(caller, parse_list_request(call.uri)?).await?)?
        }
        ["tasks", name] => match name.rsplit_once(':') {
            Some((id, "cancel")) if post => {
                call.read_nothing(endpoint).await?;
                to_json(&tasks.cancel_task(caller, id).await?)?
            }
            Some((id, "subscribe")) if get || post => {
                call.read_nothing(endpoint).await?;
                return Ok(CallResult::Stream(tasks.subscribe_to_task(caller, id).await?));
            }
            _ if get => {
                let history = parse_number(call.uri, "historyLength")?;
                to_json(&tasks.get_task(caller, name, history).await?)?
            }
            _ => return Err(unknown_path_error(method, path)),
        },
        ["tasks", task, "pushNotificationConfigs"] if get => {
            require_notifications(endpoint)?;
            render_configs(&tasks.list_notifications(caller, task).await?)
        }
        ["tasks", task, "pushNotificationConfigs"] if post => {
            require_notifications(endpoint)?;
            let mut config: TaskPushNotificationConfig = call.read(endpoint).await?;
            task.clone_into(&mut config.task_id);
            to_json(&tasks.create_notification(caller, config, VERSION_1).await?)?
        }
        ["tasks", task, "pushNotificationConfigs", id] if get => {
            require_notifications(endpoint)?;
            to_json(&tasks.get_notification(caller, task, id).await?)?
        }
        ["tasks", task, "pushNotificationConfigs", id] if delete => {
            require_notifications(endpoint)?;
            tasks.delete_notification(caller, task, id).await?;
            serde_json::json!({})
        }
        _ => return Err(unknown_path_error(method, path)),
    };
    Ok(CallResult::Result(result))
}

impl RestCall<'_> {
    fn metadata(&self) -> RequestMetadata {
        RequestMetadata { traceparent: request::read_traceparent(self.headers), version: VERSION_1 }
    }

    fn check_media_type(&self) -> Result<(), ProtocolError> {
        let given = request::read_media_type(self.headers);
        if matches!(given.as_deref(), Some("application/json" | MEDIA_TYPE)) {
            return Ok(());
        }
        let message = format!("the body must be {MEDIA_TYPE} or application/json");
        Err(ProtocolError::ContentTypeNotSupported(message))
    }

    async fn read<T: DeserializeOwned>(self, endpoint: &EndpointState) -> Result<T, ProtocolError> {
        self.check_media_type()?;
        let body = request::read_body(self.body, endpoint.tasks.settings.body_bytes).await?;
        let mut value: Value = serde_json::from_slice(&body)
            .map_err(|error| ProtocolError::Parse(error.to_string()))?;
        names::normalise(&mut value);
        serde_json::from_value(value).map_err(|error| ProtocolError::InvalidParams {
            message: format!("the body is not what this address takes: {error}"),
            violations: Vec::new(),
        })
    }

    /// Reads an optional body whose content is ignored.
    async fn read_nothing(self, endpoint: &EndpointState) -> Result<(), ProtocolError> {
        let kind = self.check_media_type();
        let body = request::read_body(self.body, endpoint.tasks.settings.body_bytes).await?;
        if body.is_empty() {
            return Ok(());
        }
        kind?;
        serde_json::from_slice::<serde::de::IgnoredAny>(&body)
            .map(drop)
            .map_err(|error| ProtocolError::Parse(error.to_string()))
    }
}

fn parse_list_request(uri: &Uri) -> Result<ListTasksRequest, ProtocolError> {
    let text = |name: &str| find_query_parameter(uri, name).filter(|text| !text.is_empty());
    let wrong = |name: &str, rule: &str| ProtocolError::invalid_field(name, rule);
    let status = text("status").map(|name| {
        serde_json::from_value::<TaskState>(Value::String(name))
            .map_err(|_| wrong("status", "is not a task state"))
    });
    let after = text("statusTimestampAfter").map(|moment| {
        serde_json::from_value(Value::String(moment))
            .map_err(|_| wrong("statusTimestampAfter", "must be a moment as in RFC 3339"))
    });
    let artifacts = text("includeArtifacts").map(|choice| {
        choice.parse().map_err(|_| wrong("includeArtifacts", "must be true or false"))
    });
    Ok(ListTasksRequest {
        context_id: text("contextId"),
        status: status.transpose()?,
        page_size: parse_number(uri, "pageSize")?,
        page_token: text("pageToken"),
        history_length: parse_number(uri, "historyLength")?,
        status_timestamp_after: after.transpose()?,
        include_artifacts: artifacts.transpose()?,
        tenant: None,
    })
}

fn parse_number(uri: &Uri, name: &str) -> Result<Option<i32>, ProtocolError> {
    let text = find_query_parameter(uri, name).filter(|text| !text.is_empty());
    let parsed = text.map(|text| text.parse::<i32>());
    parsed.transpose().map_err(|_| ProtocolError::invalid_field(name, "must be a whole number"))
}

fn percent_decode(segment: &str) -> String {
    percent_encoding::percent_decode_str(segment).decode_utf8_lossy().into_owned()
}

fn unknown_path_error(method: &Method, path: &str) -> ProtocolError {
    ProtocolError::MethodNotFound(format!("{method} {path}").chars().take(80).collect())
}

fn respond_with_document(status: StatusCode, document: &Value, plain: bool) -> Response<Body> {
    let kind = if plain { "application/json" } else { MEDIA_TYPE };
    // These headers are always valid.
    Response::builder()
        .status(status)
        .header(header::CONTENT_TYPE, kind)
        .body(Body::from(document.to_string()))
        .unwrap_or_default()
}
