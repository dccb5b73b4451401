//! A request in the wire's own words. Serialised straight from borrowed parts.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;

use super::OpenAiConfig;
use crate::{AnsweredCall, ContextBlock, Message, ModelError, ModelRequest};

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<WireMessage<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    stream: bool,
    stream_options: StreamOptions,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
}

#[derive(Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum WireMessage<'a> {
    System {
        content: &'a str,
    },
    User {
        content: Cow<'a, str>,
    },
    Assistant {
        content: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<&'a str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<WireCall<'a>>,
    },
    Tool {
        tool_call_id: &'a str,
        content: &'a str,
    },
}

#[derive(Serialize)]
struct WireCall<'a> {
    id: &'a str,
    r#type: &'static str,
    function: WireFunctionCall<'a>,
}

#[derive(Serialize)]
struct WireFunctionCall<'a> {
    name: &'a str,
    arguments: &'a str,
}

#[derive(Serialize)]
struct WireTool<'a> {
    r#type: &'static str,
    function: WireFunction<'a>,
}

#[derive(Serialize)]
struct WireFunction<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a RawValue,
}

/// The request as bytes.
pub(super) fn body(config: &OpenAiConfig, request: &ModelRequest) -> Result<Vec<u8>, ModelError> {
    let body = Body {
        model: &config.model,
        messages: messages(request),
        tools: request
            .tools
            .iter()
            .map(|tool| WireTool {
                r#type: "function",
                function: WireFunction {
                    name: &tool.name,
                    description: &tool.description,
                    parameters: &tool.parameters,
                },
            })
            .collect(),
        stream: true,
        stream_options: StreamOptions { include_usage: true },
        max_completion_tokens: config.max_output_tokens,
        temperature: config.temperature,
    };
    serde_json::to_vec(&body).map_err(|error| ModelError::BadRequest { reason: error.to_string() })
}

fn messages(request: &ModelRequest) -> Vec<WireMessage<'_>> {
    let mut wire = vec![WireMessage::System { content: &request.instruction }];
    let newest_user = request.messages.iter().rposition(|m| matches!(m, Message::User { .. }));
    for (index, message) in request.messages.iter().enumerate() {
        match message {
            Message::User { text } if Some(index) == newest_user => {
                wire.push(WireMessage::User { content: with_context(&request.context, text) });
            }
            Message::User { text } => {
                wire.push(WireMessage::User { content: Cow::Borrowed(text) });
            }
            Message::Assistant { author, text } => wire.push(WireMessage::Assistant {
                content: Some(text),
                name: author.as_deref(),
                tool_calls: Vec::new(),
            }),
            Message::Exchange { text, calls } => push_exchange(&mut wire, text, calls),
        }
    }
    wire
}

fn push_exchange<'a>(wire: &mut Vec<WireMessage<'a>>, text: &'a str, calls: &'a [AnsweredCall]) {
    wire.push(WireMessage::Assistant {
        content: (!text.is_empty()).then_some(text),
        name: None,
        tool_calls: calls
            .iter()
            .map(|call| WireCall {
                id: call.id.as_str(),
                r#type: "function",
                function: WireFunctionCall {
                    name: call.valid_name(),
                    arguments: call.valid_arguments(),
                },
            })
            .collect(),
    });
    for call in calls {
        wire.push(WireMessage::Tool { tool_call_id: call.id.as_str(), content: &call.result });
    }
}

/// Context goes in front of the newest user message: a second system message is refused by the
/// templates of many local models, and early in the request it would spoil the provider's cache.
fn with_context<'a>(context: &[ContextBlock], text: &'a str) -> Cow<'a, str> {
    if context.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut whole = String::new();
    for block in context {
        whole.push_str("<context source=\"");
        whole.push_str(block.source);
        whole.push_str("\">\n");
        whole.push_str(block.text.trim_end());
        whole.push_str("\n</context>\n\n");
    }
    whole.push_str(text);
    Cow::Owned(whole)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use lango_protocol::CallId;

    use super::*;

    #[test]
    fn a_request_keeps_instruction_context_and_pairs_apart() {
        let call = CallId::generate();
        let request = ModelRequest {
            instruction: "You are operator, …".into(),
            context: vec![ContextBlock { source: "workspace", text: "here\n".into() }],
            messages: vec![
                Message::User { text: "first".into() },
                Message::Assistant { author: Some("vault".into()), text: "done".into() },
                Message::User { text: "second".into() },
                Message::Exchange {
                    text: String::new(),
                    calls: vec![AnsweredCall {
                        id: call.clone(),
                        name: "fs_read".into(),
                        arguments: "{broken".into(),
                        result: "not JSON".into(),
                    }],
                },
            ],
            tools: Vec::new(),
        };
        let config = OpenAiConfig {
            base_url: "http://127.0.0.1:1/v1".into(),
            api_key: None,
            model: "m".into(),
            idle_timeout: Duration::from_secs(1),
            max_output_tokens: None,
            temperature: None,
        };
        let value: serde_json::Value =
            serde_json::from_slice(&body(&config, &request).unwrap()).unwrap();
        let messages = value["messages"].as_array().unwrap();
        assert_eq!(messages[0]["content"], "You are operator, …");
        assert_eq!(messages[1]["content"], "first");
        assert_eq!(messages[2]["name"], "vault");
        assert_eq!(
            messages[3]["content"],
            "<context source=\"workspace\">\nhere\n</context>\n\nsecond"
        );
        assert_eq!(messages[4]["tool_calls"][0]["function"]["arguments"], "{}");
        assert_eq!(messages[5]["tool_call_id"], call.as_str());
        assert!(value.get("tools").is_none());
    }
}
