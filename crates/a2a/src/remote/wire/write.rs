//! Writes the requests to a remote agent, in the spelling of its version.

use a2a::{
    CancelTaskRequest, GetTaskRequest, JsonRpcRequest, Message, Part, Role,
    SendMessageConfiguration, SendMessageRequest, SubscribeToTaskRequest, methods,
};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lango_egress::{Method, Url};
use serde_json::{Value, json};

use super::{Binding, Version};
use crate::remote::card::Interface;
use crate::remote::error::ExchangeError;

/// The media types that an answer may have.
const ACCEPTED_OUTPUT_MODES: [&str; 3] = ["text/plain", "text/markdown", "application/json"];

/// A message to an agent.
#[derive(Debug, Clone)]
pub(crate) struct OutgoingMessage {
    /// A message with the same id is a repetition.
    pub(crate) id: String,
    pub(crate) text: String,
    pub(crate) pictures: Vec<Picture>,
    /// The conversation that it continues.
    pub(crate) context: Option<String>,
    /// The task whose question it answers.
    pub(crate) task: Option<String>,
}

/// An attached image.
#[derive(Debug, Clone)]
pub(crate) struct Picture {
    pub(crate) media_type: String,
    pub(crate) data: Vec<u8>,
}

/// A request to an agent.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Operation<'a> {
    Send(&'a OutgoingMessage),
    Stream(&'a OutgoingMessage),
    Get(&'a str),
    Subscribe(&'a str),
    Cancel(&'a str),
}

/// An HTTP request.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) body: Vec<u8>,
    /// The id of the JSON-RPC request, which its answers repeat.
    pub(crate) id: Option<String>,
}

impl Operation<'_> {
    /// Tells whether the answer is a stream.
    pub(crate) fn is_streaming(self) -> bool {
        matches!(self, Self::Stream(_) | Self::Subscribe(_))
    }

    /// Returns the HTTP request.
    pub(crate) fn request(self, to: &Interface) -> Result<Request, ExchangeError> {
        match to.binding {
            Binding::JsonRpc => {
                let (method, parameters) = match to.version {
                    Version::One => self.as_one(to.tenant.as_deref())?,
                    Version::ZeroThree => self.as_zero_three(),
                };
                let id = uuid::Uuid::new_v4().to_string();
                let request = JsonRpcRequest::new(id.as_str().into(), method, Some(parameters));
                let (url, body) = (to.url.clone(), bytes(&request)?);
                Ok(Request { method: Method::POST, url, body, id: Some(id) })
            }
            Binding::HttpJson => self.as_http(to),
        }
    }

    fn as_one(self, tenant: Option<&str>) -> Result<(&'static str, Value), ExchangeError> {
        let tenant = tenant.map(str::to_owned);
        let (method, parameters) = match self {
            Self::Send(message) => {
                (methods::SEND_MESSAGE, serde_json::to_value(message.as_one(tenant)))
            }
            Self::Stream(message) => {
                (methods::SEND_STREAMING_MESSAGE, serde_json::to_value(message.as_one(tenant)))
            }
            Self::Get(task) => {
                let get = GetTaskRequest { id: task.to_owned(), history_length: None, tenant };
                (methods::GET_TASK, serde_json::to_value(get))
            }
            Self::Subscribe(task) => {
                let subscribe = SubscribeToTaskRequest { id: task.to_owned(), tenant };
                (methods::SUBSCRIBE_TO_TASK, serde_json::to_value(subscribe))
            }
            Self::Cancel(task) => {
                let cancel = CancelTaskRequest { id: task.to_owned(), metadata: None, tenant };
                (methods::CANCEL_TASK, serde_json::to_value(cancel))
            }
        };
        Ok((method, parameters.map_err(unsendable)?))
    }

    fn as_zero_three(self) -> (&'static str, Value) {
        match self {
            Self::Send(message) => ("message/send", message.as_zero_three()),
            Self::Stream(message) => ("message/stream", message.as_zero_three()),
            Self::Get(task) => ("tasks/get", json!({ "id": task })),
            Self::Subscribe(task) => ("tasks/resubscribe", json!({ "id": task })),
            Self::Cancel(task) => ("tasks/cancel", json!({ "id": task })),
        }
    }

    fn as_http(self, to: &Interface) -> Result<Request, ExchangeError> {
        let tenant = || to.tenant.clone();
        let (method, steps, action, body) = match self {
            Self::Send(message) => {
                (Method::POST, vec!["message"], "send", bytes(&message.as_one(tenant()))?)
            }
            Self::Stream(message) => {
                (Method::POST, vec!["message"], "stream", bytes(&message.as_one(tenant()))?)
            }
            Self::Get(task) => (Method::GET, vec!["tasks", task], "", Vec::new()),
            Self::Subscribe(task) => (Method::GET, vec!["tasks", task], "subscribe", Vec::new()),
            Self::Cancel(task) => {
                let cancel =
                    CancelTaskRequest { id: task.to_owned(), metadata: None, tenant: tenant() };
                (Method::POST, vec!["tasks", task], "cancel", bytes(&cancel)?)
            }
        };
        let mut url = to.url.clone();
        {
            let mut path = url.path_segments_mut().map_err(|()| {
                ExchangeError::Malformed("an endpoint that has no path".to_owned())
            })?;
            path.pop_if_empty().extend(to.tenant.as_deref());
            path.extend(steps);
        }
        if !action.is_empty() {
            let path = format!("{}:{action}", url.path());
            url.set_path(&path);
        }
        Ok(Request { method, url, body, id: None })
    }
}

impl OutgoingMessage {
    fn as_one(&self, tenant: Option<String>) -> SendMessageRequest {
        let pictures = self.pictures.iter().map(|picture| {
            Part::raw(picture.data.clone()).with_media_type(picture.media_type.as_str())
        });
        let message = Message {
            message_id: self.id.clone(),
            context_id: self.context.clone(),
            task_id: self.task.clone(),
            role: Role::User,
            parts: std::iter::once(Part::text(self.text.as_str())).chain(pictures).collect(),
            metadata: None,
            extensions: None,
            reference_task_ids: None,
        };
        let configuration = SendMessageConfiguration {
            accepted_output_modes: Some(ACCEPTED_OUTPUT_MODES.map(str::to_owned).to_vec()),
            task_push_notification_config: None,
            history_length: None,
            return_immediately: None,
        };
        SendMessageRequest { message, configuration: Some(configuration), metadata: None, tenant }
    }

    fn as_zero_three(&self) -> Value {
        let mut parts = vec![json!({ "kind": "text", "text": self.text })];
        parts.extend(self.pictures.iter().map(|picture| {
            let bytes = STANDARD.encode(&picture.data);
            json!({ "kind": "file", "file": { "bytes": bytes, "mimeType": picture.media_type } })
        }));
        let mut message =
            json!({ "kind": "message", "messageId": self.id, "role": "user", "parts": parts });
        if let Some(context) = &self.context {
            message["contextId"] = json!(context);
        }
        if let Some(task) = &self.task {
            message["taskId"] = json!(task);
        }
        json!({
            "message": message,
            "configuration": { "acceptedOutputModes": ACCEPTED_OUTPUT_MODES, "blocking": true },
        })
    }
}

fn bytes(value: &impl serde::Serialize) -> Result<Vec<u8>, ExchangeError> {
    serde_json::to_vec(value).map_err(unsendable)
}

#[expect(clippy::needless_pass_by_value, reason = "`map_err` passes it by value")]
fn unsendable(error: serde_json::Error) -> ExchangeError {
    ExchangeError::Malformed(format!("a request that cannot be written: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_stays_within_its_place_in_an_address() {
        let to = Interface {
            url: "http://127.0.0.1:1/rest/".parse().unwrap(),
            binding: Binding::HttpJson,
            version: Version::One,
            tenant: None,
        };
        let at = |operation: Operation<'_>, to: &Interface| {
            let Request { method, url, .. } = operation.request(to).unwrap();
            format!("{method} {}", url.as_str().trim_start_matches("http://127.0.0.1:1"))
        };
        assert_eq!(at(Operation::Get("../x?y"), &to), "GET /rest/tasks/..%2Fx%3Fy");
        assert_eq!(at(Operation::Subscribe("a"), &to), "GET /rest/tasks/a:subscribe");
        assert_eq!(at(Operation::Cancel("a"), &to), "POST /rest/tasks/a:cancel");
        let to = Interface { tenant: Some("us".into()), ..to };
        assert_eq!(at(Operation::Get("a"), &to), "GET /rest/us/tasks/a");
    }
}
