//! Serialises a request for the Anthropic API straight from borrowed parts.
//!
//! The API is strict: the first message is the user's, roles take turns, results come first in the
//! message after their calls, and no text is empty.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::value::RawValue;

use super::Thought;
use crate::http::{CONTINUE_TEXT, Endpoint, OPENING_TEXT, with_author};
use crate::{AnsweredCall, Image, Message, ModelRequest, ProviderState};

/// Limits a reply where no limit is configured; the API requires a number.
const DEFAULT_MAX_TOKENS: u64 = 8_192;
/// Limits a reply to less than a model's own maximum: a longer one would only take more time.
const MAX_OUTPUT_TOKENS: u64 = 32_000;
/// Lists the image types that the API accepts.
const IMAGE_MEDIA_TYPES: [&str; 4] = ["image/jpeg", "image/png", "image/gif", "image/webp"];

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    max_tokens: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<ToolChoice>,
    stream: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f32>,
    /// Last, because the end of it is all that changes from call to call.
    messages: Vec<WireMessage<'a>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum Role {
    User,
    Assistant,
}

#[derive(Serialize)]
struct WireMessage<'a> {
    role: Role,
    content: Vec<Block<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Block<'a> {
    /// Takes no marker.
    Thought(Thought),
    Content {
        #[serde(flatten)]
        content: Content<'a>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_control: Option<Marker>,
    },
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Content<'a> {
    Text {
        text: Cow<'a, str>,
    },
    Image {
        source: ImageSource<'a>,
    },
    ToolUse {
        id: &'a str,
        name: &'a str,
        input: &'a RawValue,
    },
    ToolResult {
        tool_use_id: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<&'a str>,
    },
}

#[derive(Serialize)]
struct ImageSource<'a> {
    r#type: &'static str,
    media_type: &'a str,
    data: String,
}

/// Marks a block: everything up to and including it is cached. A request has four markers at most.
#[derive(Serialize)]
struct Marker {
    r#type: &'static str,
}

impl Marker {
    const SET: Option<Self> = Some(Self { r#type: "ephemeral" });
}

#[derive(Serialize)]
struct ToolChoice {
    r#type: &'static str,
}

#[derive(Serialize)]
struct WireTool<'a> {
    name: &'a str,
    description: &'a str,
    input_schema: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<Marker>,
}

/// Serialises the request.
pub(super) fn serialize_body(
    endpoint: &Endpoint,
    request: &ModelRequest,
) -> serde_json::Result<Vec<u8>> {
    let mut system: Vec<_> = Block::text((&*request.instruction).into()).into_iter().collect();
    system.last_mut().into_iter().for_each(Block::mark);
    let nothing: Box<RawValue> = RawValue::from_string(r#"{"type":"object"}"#.to_owned())?;
    let mut tools = convert_tools(request);
    let closed = tools.is_empty() && has_calls(request);
    if closed {
        // A conversation with calls in it is refused unless there is some tool to call.
        tools.push(WireTool {
            name: "no_tool_is_left",
            description: "Cannot be called.",
            input_schema: &nothing,
            cache_control: None,
        });
    }
    serde_json::to_vec(&Body {
        model: &endpoint.id.model,
        max_tokens: choose_max_tokens(endpoint, request),
        system,
        messages: Messages::of(endpoint, request)?.marked(),
        tools,
        tool_choice: closed.then_some(ToolChoice { r#type: "none" }),
        stream: true,
        temperature: request.options.temperature.map(|temperature| temperature.min(1.0)),
    })
}

fn has_calls(request: &ModelRequest) -> bool {
    let is_call =
        |message: &Message| matches!(message, Message::Exchange { calls, .. } if !calls.is_empty());
    request.messages.iter().any(is_call)
}

fn choose_max_tokens(endpoint: &Endpoint, request: &ModelRequest) -> u64 {
    let known = endpoint.facts.max_output.map(|limit| limit.min(MAX_OUTPUT_TOKENS));
    request.options.max_output_tokens.map(u64::from).or(known).unwrap_or(DEFAULT_MAX_TOKENS)
}

fn convert_tools(request: &ModelRequest) -> Vec<WireTool<'_>> {
    let mut tools: Vec<_> = request
        .tools
        .iter()
        .map(|tool| WireTool {
            name: &tool.name,
            description: &tool.description,
            input_schema: &tool.parameters,
            cache_control: None,
        })
        .collect();
    if let Some(last) = tools.last_mut() {
        last.cache_control = Marker::SET;
    }
    tools
}

impl<'a> Block<'a> {
    fn new(content: Content<'a>) -> Self {
        Self::Content { content, cache_control: None }
    }

    /// Returns a text block, or `None` for an empty text.
    fn text(text: Cow<'a, str>) -> Option<Self> {
        (!text.trim().is_empty()).then(|| Self::new(Content::Text { text }))
    }

    fn mark(&mut self) {
        if let Self::Content { cache_control, .. } = self {
            *cache_control = Marker::SET;
        }
    }
}

/// Collects the messages of the conversation.
struct Messages<'a> {
    list: Vec<WireMessage<'a>>,
    /// The last block before the newest user message: its message, and its place in it.
    settled: Option<(usize, usize)>,
}

impl<'a> Messages<'a> {
    fn of(endpoint: &Endpoint, request: &'a ModelRequest) -> serde_json::Result<Self> {
        let mut messages = Self { list: Vec::new(), settled: None };
        let sees = endpoint.facts.images != Some(false);
        let newest = request.newest_user();
        for (position, message) in request.messages.iter().enumerate() {
            if newest == Some(position) {
                messages.settled = messages.last();
            }
            match message {
                Message::User(message) => {
                    messages.push(
                        Role::User,
                        build_user_blocks(
                            request.user_text(position, message),
                            &message.images,
                            sees,
                        ),
                    );
                }
                Message::Assistant { author, text } => {
                    let text = with_author(author.as_deref(), text.trim_end());
                    messages.push(Role::Assistant, Block::text(text));
                }
                Message::Exchange { text, calls, provider_state } => {
                    messages.exchange(
                        text,
                        calls,
                        read_thoughts(endpoint, provider_state.as_ref()),
                    )?;
                }
            }
        }
        // An assistant message at the end would be a prefix to complete, which newer models refuse.
        if messages.list.last().is_none_or(|message| message.role == Role::Assistant) {
            let words = if messages.list.is_empty() { OPENING_TEXT } else { CONTINUE_TEXT };
            messages.push(Role::User, Block::text(words.into()));
        }
        Ok(messages)
    }

    /// Adds to the last message if it has the same role.
    fn push(&mut self, role: Role, blocks: impl IntoIterator<Item = Block<'a>>) {
        let mut blocks = blocks.into_iter().peekable();
        if blocks.peek().is_none() {
            return;
        }
        if self.list.is_empty() && role == Role::Assistant {
            self.push(Role::User, Block::text(OPENING_TEXT.into()));
        }
        match self.list.last_mut().filter(|message| message.role == role) {
            Some(message) => message.content.extend(blocks),
            None => self.list.push(WireMessage { role, content: blocks.collect() }),
        }
    }

    fn exchange(
        &mut self,
        text: &'a str,
        calls: &'a [AnsweredCall],
        thoughts: Vec<Thought>,
    ) -> serde_json::Result<()> {
        let uses = calls.iter().map(build_tool_use).collect::<serde_json::Result<Vec<_>>>()?;
        self.push(Role::Assistant, Block::text(text.trim_end().into()).into_iter().chain(uses));
        if let Some(message) =
            self.list.last_mut().filter(|message| message.role == Role::Assistant)
        {
            message.content.splice(0..0, thoughts.into_iter().map(Block::Thought));
        }
        self.push(Role::User, calls.iter().map(build_tool_result));
        Ok(())
    }

    fn last(&self) -> Option<(usize, usize)> {
        let message = self.list.len().checked_sub(1)?;
        Some((message, self.list[message].content.len().checked_sub(1)?))
    }

    /// Sets markers where the next call of this turn and the next turn find the same prefix again.
    fn marked(mut self) -> Vec<WireMessage<'a>> {
        for (message, block) in self.settled.into_iter().chain(self.last()) {
            self.list[message].content[block].mark();
        }
        self.list
    }
}

fn read_thoughts(endpoint: &Endpoint, provider_state: Option<&ProviderState>) -> Vec<Thought> {
    let data = provider_state.and_then(|kept| kept.for_model(&endpoint.id));
    // Data of another format is left out: it is older than this program, or damaged.
    data.and_then(|data| serde_json::from_str(data).ok()).unwrap_or_default()
}

/// Puts the images first: the models read them best that way.
fn build_user_blocks<'a>(text: Cow<'a, str>, images: &'a [Image], sees: bool) -> Vec<Block<'a>> {
    let images = images.iter().map(|image| {
        Block::new(if sees && IMAGE_MEDIA_TYPES.contains(&image.media_type.as_str()) {
            let (media_type, data) = (image.media_type.as_str(), image.base64());
            Content::Image { source: ImageSource { r#type: "base64", media_type, data } }
        } else {
            Content::Text { text: image.placeholder().into() }
        })
    });
    images.chain(Block::text(text)).collect()
}

fn build_tool_use(call: &AnsweredCall) -> serde_json::Result<Block<'_>> {
    let input = serde_json::from_str(call.valid_arguments())?;
    Ok(Block::new(Content::ToolUse { id: call.id.as_str(), name: call.valid_name(), input }))
}

fn build_tool_result(call: &AnsweredCall) -> Block<'_> {
    let content = Some(call.result.as_str()).filter(|result| !result.trim().is_empty());
    Block::new(Content::ToolResult { tool_use_id: call.id.as_str(), content })
}

#[cfg(test)]
#[path = "wire_tests.rs"]
mod tests;
