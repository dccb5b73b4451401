//! Serialises a request for the Ollama API straight from borrowed parts.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;

use super::ProviderState;
use crate::http::{Endpoint, with_author};
use crate::openai::WireTool;
use crate::{AnsweredCall, Image, Message, ModelRequest};

/// Limits the context that is requested: each token of it takes the server's memory, used or not.
const MAX_CONTEXT_TOKENS: u64 = 32_768;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    stream: bool,
    #[serde(skip_serializing_if = "Options::is_empty")]
    options: Options,
    /// Last, because the end of it is all that changes from call to call.
    messages: Vec<WireMessage<'a>>,
}

#[derive(Serialize)]
struct Options {
    /// The server's own default is a few thousand tokens, whatever the model supports, and it
    /// truncates a longer request silently.
    #[serde(skip_serializing_if = "Option::is_none")]
    num_ctx: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_predict: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
}

impl Options {
    fn is_empty(&self) -> bool {
        self.num_ctx.is_none() && self.num_predict.is_none() && self.temperature.is_none()
    }
}

#[derive(Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
enum WireMessage<'a> {
    System {
        content: &'a str,
    },
    User {
        content: Cow<'a, str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        images: Vec<String>,
    },
    Assistant {
        content: Cow<'a, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        thinking: Option<String>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<WireCall<'a>>,
    },
    Tool {
        tool_name: &'a str,
        content: &'a str,
    },
}

#[derive(Serialize)]
struct WireCall<'a> {
    function: WireFunctionCall<'a>,
}

#[derive(Serialize)]
struct WireFunctionCall<'a> {
    name: &'a str,
    arguments: &'a RawValue,
}

/// Serialises the request.
pub(super) fn serialize_body(
    endpoint: &Endpoint,
    request: &ModelRequest,
) -> serde_json::Result<Vec<u8>> {
    serde_json::to_vec(&Body {
        model: &endpoint.id.model,
        messages: convert_messages(endpoint, request)?,
        tools: WireTool::all(request),
        stream: true,
        options: Options {
            num_ctx: endpoint.facts.window.map(|window| window.min(MAX_CONTEXT_TOKENS)),
            num_predict: request.options.max_output_tokens,
            temperature: request.options.temperature,
        },
    })
}

fn convert_messages<'a>(
    endpoint: &Endpoint,
    request: &'a ModelRequest,
) -> serde_json::Result<Vec<WireMessage<'a>>> {
    let mut wire = vec![WireMessage::System { content: &request.instruction }];
    let sees = endpoint.facts.images != Some(false);
    for (position, message) in request.messages.iter().enumerate() {
        match message {
            Message::User(message) => {
                wire.push(build_user_message(
                    request.user_text(position, message),
                    &message.images,
                    sees,
                ));
            }
            Message::Assistant { author, text } => wire.push(WireMessage::Assistant {
                content: with_author(author.as_deref(), text),
                thinking: None,
                tool_calls: Vec::new(),
            }),
            Message::Exchange { text, calls, provider_state } => {
                let kept = provider_state.as_ref().and_then(|kept| kept.for_model(&endpoint.id));
                push_exchange(&mut wire, text, calls, kept)?;
            }
        }
    }
    Ok(wire)
}

fn build_user_message<'a>(text: Cow<'a, str>, images: &[Image], sees: bool) -> WireMessage<'a> {
    if sees || images.is_empty() {
        return WireMessage::User {
            content: text,
            images: images.iter().map(Image::base64).collect(),
        };
    }
    let words = images.iter().map(Image::placeholder);
    let lines: Vec<_> = std::iter::once(text.into_owned()).chain(words).collect();
    WireMessage::User { content: lines.join("\n").into(), images: Vec::new() }
}

fn push_exchange<'a>(
    wire: &mut Vec<WireMessage<'a>>,
    text: &'a str,
    calls: &'a [AnsweredCall],
    kept: Option<&str>,
) -> serde_json::Result<()> {
    // Data of another format is left out: it is older than this program, or damaged.
    let kept = kept.and_then(|data| serde_json::from_str::<ProviderState>(data).ok());
    wire.push(WireMessage::Assistant {
        content: text.into(),
        thinking: kept.map(|kept| kept.thinking),
        tool_calls: calls.iter().map(convert_call).collect::<serde_json::Result<_>>()?,
    });
    for call in calls {
        wire.push(WireMessage::Tool { tool_name: call.valid_name(), content: &call.result });
    }
    Ok(())
}

fn convert_call(call: &AnsweredCall) -> serde_json::Result<WireCall<'_>> {
    let arguments = serde_json::from_str(call.valid_arguments())?;
    Ok(WireCall { function: WireFunctionCall { name: call.valid_name(), arguments } })
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
