//! Serialises a request for the chat-completions API straight from borrowed parts.

use std::borrow::Cow;

use serde::Serialize;

use super::{ProviderState, WireTool};
use crate::http::{Endpoint, Quirks};
use crate::{AnsweredCall, Image, Message, ModelId, ModelRequest};

/// Lists the image types that the API accepts.
const IMAGE_MEDIA_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream_options: Option<StreamOptions>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    /// Last, because the end of it is all that changes from call to call.
    messages: Vec<WireMessage<'a>>,
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
        content: Content<'a>,
    },
    Assistant {
        content: Option<&'a str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        name: Option<&'a str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<WireCall<'a>>,
        #[serde(skip_serializing_if = "Option::is_none")]
        reasoning_content: Option<String>,
    },
    Tool {
        tool_call_id: &'a str,
        content: &'a str,
    },
}

#[derive(Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Text(Cow<'a, str>),
    Parts(Vec<Part<'a>>),
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    Text { text: Cow<'a, str> },
    ImageUrl { image_url: ImageUrl },
}

#[derive(Serialize)]
struct ImageUrl {
    url: String,
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

/// Serialises the request.
pub(super) fn serialize_body(
    endpoint: &Endpoint,
    request: &ModelRequest,
) -> serde_json::Result<Vec<u8>> {
    serialize_body_for(endpoint, request, Quirks::default())
}

/// Serialises the request for a server that does not accept every field.
pub(super) fn serialize_body_for(
    endpoint: &Endpoint,
    request: &ModelRequest,
    quirks: Quirks,
) -> serde_json::Result<Vec<u8>> {
    let limit = request.options.max_output_tokens;
    serde_json::to_vec(&Body {
        model: &endpoint.id.model,
        messages: convert_messages(endpoint, request),
        tools: WireTool::all(request),
        stream: true,
        stream_options: (!quirks.no_stream_options())
            .then_some(StreamOptions { include_usage: true }),
        max_completion_tokens: limit.filter(|_| !quirks.old_limit()),
        max_tokens: limit.filter(|_| quirks.old_limit()),
        reasoning_effort: (quirks.no_reasoning() && !request.tools.is_empty()).then_some("none"),
        temperature: request.options.temperature,
    })
}

fn convert_messages<'a>(endpoint: &Endpoint, request: &'a ModelRequest) -> Vec<WireMessage<'a>> {
    let mut wire = vec![WireMessage::System { content: &request.instruction }];
    let sees = endpoint.facts.images != Some(false);
    for (position, message) in request.messages.iter().enumerate() {
        match message {
            Message::User(message) => {
                let text = request.user_text(position, message);
                // Some servers refuse empty messages.
                if !text.is_empty() || !message.images.is_empty() {
                    let content = build_user_content(text, &message.images, sees);
                    wire.push(WireMessage::User { content });
                }
            }
            Message::Assistant { text, .. } if text.is_empty() => {}
            Message::Assistant { author, text } => wire.push(WireMessage::Assistant {
                content: Some(text),
                name: author.as_deref(),
                tool_calls: Vec::new(),
                reasoning_content: None,
            }),
            Message::Exchange { text, calls, provider_state } => {
                let reasoning =
                    provider_state.as_ref().and_then(|kept| read_reasoning(kept, &endpoint.id));
                push_exchange(&mut wire, text, calls, reasoning);
            }
        }
    }
    wire
}

fn build_user_content<'a>(text: Cow<'a, str>, images: &[Image], sees: bool) -> Content<'a> {
    if images.is_empty() {
        return Content::Text(text);
    }
    let images = images.iter().map(|image| {
        if sees && IMAGE_MEDIA_TYPES.contains(&image.media_type.as_str()) {
            let url = format!("data:{};base64,{}", image.media_type, image.base64());
            Part::ImageUrl { image_url: ImageUrl { url } }
        } else {
            Part::Text { text: image.placeholder().into() }
        }
    });
    // A part without text is refused.
    let text = Some(text).filter(|text| !text.trim().is_empty());
    Content::Parts(text.map(|text| Part::Text { text }).into_iter().chain(images).collect())
}

fn read_reasoning(provider_state: &crate::ProviderState, id: &ModelId) -> Option<String> {
    let data = provider_state.for_model(id)?;
    // Data of another format is left out: it is older than this program, or damaged.
    serde_json::from_str::<ProviderState>(data).ok().map(|kept| kept.reasoning_content)
}

fn push_exchange<'a>(
    wire: &mut Vec<WireMessage<'a>>,
    text: &'a str,
    calls: &'a [AnsweredCall],
    reasoning_content: Option<String>,
) {
    if text.is_empty() && calls.is_empty() {
        return;
    }
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
        reasoning_content,
    });
    for call in calls {
        wire.push(WireMessage::Tool { tool_call_id: call.id.as_str(), content: &call.result });
    }
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
