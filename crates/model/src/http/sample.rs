//! Provides a conversation with every kind of message, for the tests of each API's requests.

use std::sync::Arc;

use lango_protocol::{CallId, CallStatus};
use lango_tool::{SafetyLevel, ToolDeclaration};
use serde_json::Value;
use serde_json::value::RawValue;

use super::{Endpoint, Wire};
use crate::{
    AnsweredCall, CallOutcome, ContextBlock, Image, Message, ModelId, ModelRequest, ProviderState,
    ReplyOptions, RequestRole,
};

/// Makes the endpoint of a model.
pub(crate) fn endpoint(wire: Wire, model: &str) -> Endpoint {
    Endpoint::new(ModelId::new("here", model), wire, "http://127.0.0.1:1/v1")
}

/// Parses the body of a request.
pub(crate) fn value(body: &[u8]) -> Value {
    serde_json::from_slice(body).unwrap()
}

pub(crate) fn call(name: &str, arguments: &str, result: &str) -> AnsweredCall {
    let id = CallId::generate();
    let outcome = CallOutcome::tool(CallStatus::Ok);
    AnsweredCall {
        id,
        name: name.into(),
        arguments: arguments.into(),
        result: result.into(),
        outcome,
    }
}

/// Calls that the model `from` made, and what it wants to see again.
pub(crate) fn exchange(from: &str, data: &str, calls: Vec<AnsweredCall>) -> Message {
    let provider_state = ProviderState { from: ModelId::new("here", from), data: data.into() };
    Message::Exchange { text: "Looking. \n".into(), calls, provider_state: Some(provider_state) }
}

pub(crate) fn says(author: Option<&str>, text: &str) -> Message {
    Message::Assistant { author: author.map(str::to_owned), text: text.into() }
}

pub(crate) fn image(media_type: &str) -> Image {
    Image { media_type: media_type.into(), data: "pixels".into() }
}

pub(crate) fn tool(name: &str) -> ToolDeclaration {
    let schema = r#"{"type":"object","properties":{"path":{"type":"string"}}}"#;
    ToolDeclaration {
        name: name.into(),
        description: format!("What {name} does").into(),
        parameters: Arc::from(RawValue::from_string(schema.into()).unwrap()),
        level: SafetyLevel::Safe,
    }
}

pub(crate) fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        role: RequestRole::Specialist,
        instruction: "You are operator, …".into(),
        context: vec![ContextBlock { source: "workspace", text: "here\n".into() }],
        messages,
        tools: vec![tool("fs_read"), tool("fs_stat")],
        colleagues: Vec::new(),
        earlier_calls: Vec::new(),
        options: ReplyOptions::default(),
    }
}

/// Makes two successive calls of a turn: the second has one more exchange.
pub(crate) fn two_calls_of_a_turn(model: &str, data: &str) -> [ModelRequest; 2] {
    let calls = vec![call("fs_read", r#"{"path":"ä"}"#, "text"), call("fs_stat", "{}", "")];
    let mut messages = vec![
        Message::user("first"),
        says(None, "answer \n"),
        says(Some("vault"), "done"),
        Message::user("and"),
        Message::user("second"),
        exchange(model, data, calls),
    ];
    let first = request(messages.clone());
    messages.push(exchange(model, data, vec![call("fs_stat", "{}", "more")]));
    [first, request(messages)]
}

/// Returns the bytes up to the newest user message, without `cut`.
pub(crate) fn before_newest_user(body: &[u8], cut: &str) -> String {
    let text = String::from_utf8(body.to_vec()).unwrap().replace(cut, "");
    let end = text.find("<context source").unwrap();
    text[..end].to_owned()
}

/// Returns every text in a field of this name, at any depth.
pub(crate) fn texts(value: &Value, field: &str) -> Vec<String> {
    match value {
        Value::Array(values) => values.iter().flat_map(|value| texts(value, field)).collect(),
        Value::Object(fields) => fields
            .iter()
            .flat_map(|(name, value)| match value {
                Value::String(text) if name == field => vec![text.clone()],
                _ => texts(value, field),
            })
            .collect(),
        _ => Vec::new(),
    }
}
