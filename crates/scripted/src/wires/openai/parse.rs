//! Parses a chat-completions request, and refuses what OpenAI refuses.

use std::borrow::Cow;

use lango_model::Wire;

use super::wire::{Body, Call, Message, Part, Speaker, Tool};
use crate::conversation::{Conversation, Role, ScriptMessage, join};
use crate::script::Script;
use crate::text::{Content, is_base64, is_plain, unknown_field};

/// Reads a request. The error is what the provider says about it.
pub(super) fn parse<'a>(body: &'a [u8], script: &Script) -> Result<Conversation<'a>, String> {
    let request: Body<'a> = serde_json::from_slice(body).map_err(|error| {
        unknown_field(&error).map_or_else(
            || format!("We could not parse the JSON body of your request: {error}"),
            |name| format!("Unknown parameter: '{name}'."),
        )
    })?;
    check_tools(&request.tools)?;
    if request.temperature.is_some_and(|value| !(0.0..=2.0).contains(&value)) {
        return Err("Invalid 'temperature': expected a value between 0 and 2.".into());
    }
    if request.messages.is_empty() {
        return Err("Invalid 'messages': empty array.".into());
    }
    check_order(&request.messages)?;
    let mut conversation = Conversation {
        wire: Wire::OpenAi,
        model: request.model.0,
        system: Cow::Borrowed(""),
        messages: Vec::with_capacity(request.messages.len()),
        tools: request.tools.into_iter().map(|tool| tool.function.name.0).collect(),
        bytes: body.len(),
    };
    for (index, message) in request.messages.into_iter().enumerate() {
        check_message(index, &message, script)?;
        add(&mut conversation, message);
    }
    Ok(conversation)
}

fn check_tools(tools: &[Tool<'_>]) -> Result<(), String> {
    for (index, tool) in tools.iter().enumerate() {
        let name = &tool.function.name;
        if &*tool.kind != "function" {
            return Err(format!(
                "Invalid value: '{}'. Supported values are: 'function'.",
                &*tool.kind
            ));
        }
        if !is_plain(name, 64) {
            return Err(format!(
                "Invalid 'tools[{index}].function.name': string does not match pattern."
            ));
        }
        let kind = tool.function.parameters.as_ref().map(|schema| schema.kind.as_deref());
        if let Some(kind) = kind.filter(|kind| *kind != Some("object")) {
            return Err(format!(
                "Invalid schema for function '{}': schema must be a JSON Schema of 'type: \
                 \"object\"', got 'type: \"{}\"'.",
                &**name,
                kind.unwrap_or("None")
            ));
        }
    }
    Ok(())
}

/// Checks that the results of a message's calls follow it directly, each call once.
fn check_order(messages: &[Message<'_>]) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    let missing = |open: &[&str]| {
        format!(
            "An assistant message with 'tool_calls' must be followed by tool messages responding \
             to each 'tool_call_id'. The following tool_call_ids did not have response messages: {}",
            open.join(", ")
        )
    };
    for (index, message) in messages.iter().enumerate() {
        if message.role == Speaker::Tool {
            let id = message.tool_call_id.as_deref().unwrap_or_default();
            let Some(position) = open.iter().position(|call| *call == id) else {
                return Err(format!(
                    "Invalid parameter: messages with role 'tool' must be a response to a \
                     preceeding message with 'tool_calls': messages[{index}], {id:?}"
                ));
            };
            open.swap_remove(position);
            continue;
        }
        if !open.is_empty() {
            return Err(missing(&open));
        }
        for call in &message.tool_calls {
            if open.contains(&&*call.id) {
                return Err(format!("messages[{index}]: two calls are {:?}", &*call.id));
            }
            open.push(&call.id);
        }
    }
    if open.is_empty() { Ok(()) } else { Err(missing(&open)) }
}

fn check_message(index: usize, message: &Message<'_>, script: &Script) -> Result<(), String> {
    let at = format_args!("messages[{index}]");
    let role = message.role;
    if role != Speaker::Assistant && !message.tool_calls.is_empty() {
        return Err(format!("{at}: only an assistant makes calls"));
    }
    if let Some(name) = message.name.as_deref().map(|name| &**name) {
        let odd = |c: char| c.is_whitespace() || matches!(c, '<' | '|' | '\\' | '/' | '>');
        if name.is_empty() || name.chars().count() > 64 || name.contains(odd) {
            return Err(format!("Invalid '{at}.name': string does not match pattern."));
        }
    }
    for call in &message.tool_calls {
        check_call(call).map_err(|reason| format!("{at}: {reason}"))?;
    }
    let thought = message.reasoning_content.as_deref().map(|text| &**text);
    if thought.is_some_and(|thought| role != Speaker::Assistant || !script.thinks(thought)) {
        return Err(format!("{at}: reasoning_content is not what this server said"));
    }
    check_content(message).map_err(|reason| format!("{at}: {reason}"))
}

fn check_call(call: &Call<'_>) -> Result<(), &'static str> {
    if &*call.kind != "function" || call.id.is_empty() {
        return Err("a call needs an id and the type 'function'");
    }
    if !is_plain(&call.function.name, 64) {
        return Err("the name of a call is not valid");
    }
    let arguments = &call.function.arguments;
    if serde_json::from_str::<serde_json::Map<_, _>>(arguments).is_err() {
        return Err("arguments are not a JSON object");
    }
    Ok(())
}

fn check_content(message: &Message<'_>) -> Result<(), String> {
    let role = message.role;
    let says_nothing = match &message.content {
        None => true,
        Some(Content::Text(text)) => text.is_empty(),
        Some(Content::Blocks(parts)) => {
            check_parts(role, parts)?;
            parts.is_empty()
        }
    };
    if says_nothing && role != Speaker::Tool && message.tool_calls.is_empty() {
        return Err(format!("{role:?} says nothing"));
    }
    if role == Speaker::Tool && message.content.is_none() {
        return Err("a result needs content".into());
    }
    Ok(())
}

fn check_parts(role: Speaker, parts: &[Part<'_>]) -> Result<(), &'static str> {
    for part in parts {
        match part {
            Part::Text { text } if text.is_empty() => return Err("text content is empty"),
            Part::Text { .. } => {}
            Part::Refusal { .. } if role == Speaker::Assistant => {}
            Part::ImageUrl { image_url } if role == Speaker::User => {
                check_image(&image_url.url)?;
            }
            Part::InputAudio { .. } | Part::File { .. } if role == Speaker::User => {}
            _ => return Err("this role cannot have content of this type"),
        }
    }
    Ok(())
}

fn check_image(url: &str) -> Result<(), &'static str> {
    let Some(rest) = url.strip_prefix("data:") else {
        return if url.starts_with("http") { Ok(()) } else { Err("Invalid image_url.") };
    };
    match rest.split_once(";base64,") {
        Some((_, data)) if !is_base64(data) => Err("Invalid base64 image_url."),
        Some(("image/png" | "image/jpeg" | "image/jpg" | "image/gif" | "image/webp", _)) => Ok(()),
        // The provider's own message, mistake included.
        _ => Err("You uploaded an unsupported image. Please make sure your image has of one the \
                  following formats: ['png', 'jpeg', 'gif', 'webp']."),
    }
}

fn add<'a>(conversation: &mut Conversation<'a>, message: Message<'a>) {
    let role = match message.role {
        Speaker::User => Role::User,
        Speaker::Assistant => Role::Assistant,
        Speaker::Tool => Role::Tool,
        Speaker::System | Speaker::Developer => {
            let text = texts(message.content).0;
            let system = std::mem::take(&mut conversation.system);
            conversation.system = join([system, text]);
            return;
        }
    };
    let (text, images) = texts(message.content);
    let calls = message.tool_calls.into_iter().map(|call| call.function.name.0).collect();
    conversation.messages.push(ScriptMessage { role, text, images, calls });
}

/// Returns the text and the number of images.
fn texts<'a>(content: Option<Content<'a, Part<'a>>>) -> (Cow<'a, str>, usize) {
    match content {
        None => (Cow::Borrowed(""), 0),
        Some(Content::Text(text)) => (text, 0),
        Some(Content::Blocks(parts)) => {
            let images = |part: &&Part<'_>| matches!(part, Part::ImageUrl { .. });
            let images = parts.iter().filter(images).count();
            let texts = parts.into_iter().filter_map(|part| match part {
                Part::Text { text } => Some(text.0),
                _ => None,
            });
            (join(texts), images)
        }
    }
}
