//! Parses a request, and refuses what Anthropic refuses.

use std::borrow::Cow;

use lango_model::Wire;

use super::order;
use super::wire::{Block, Body, Message, MessageRole, ResultBlock, Source, SystemBlock, Tool};
use crate::conversation::{Conversation, Role, ScriptMessage, join};
use crate::signature::Signatures;
use crate::text::{Content, Text, is_base64, is_plain, unknown_field};

/// Represents a message after consecutive ones of the same role were joined, as the provider does.
pub(super) struct Turn<'a> {
    pub(super) role: MessageRole,
    pub(super) blocks: Vec<Block<'a>>,
}

/// Reads a request. The error is what the provider says about it.
pub(super) fn parse<'a>(
    body: &'a [u8],
    signatures: &Signatures,
) -> Result<Conversation<'a>, String> {
    let request: Body<'a> = serde_json::from_slice(body).map_err(|error| {
        unknown_field(&error).map_or_else(
            || format!("The request body is not valid: {error}"),
            |name| format!("{name}: Extra inputs are not permitted"),
        )
    })?;
    check_options(&request)?;
    check_tools(&request.tools)?;
    check_markers(&request)?;
    let system = system_text(request.system)?;
    let turns = turns(request.messages)?;
    order::check(&turns)?;
    for (index, turn) in turns.iter().enumerate() {
        for (position, block) in turn.blocks.iter().enumerate() {
            check_block(turn.role, block, signatures)
                .map_err(|reason| format!("messages.{index}.content.{position}: {reason}"))?;
        }
    }
    let mut conversation = Conversation {
        wire: Wire::Anthropic,
        model: request.model.0,
        system,
        messages: Vec::new(),
        tools: request.tools.into_iter().map(|tool| tool.name.0).collect(),
        bytes: body.len(),
    };
    for turn in turns {
        add(&mut conversation, turn);
    }
    Ok(conversation)
}

fn check_options(request: &Body<'_>) -> Result<(), String> {
    let max_tokens = request.max_tokens.ok_or("max_tokens: Field required")?;
    if max_tokens == 0 {
        return Err("max_tokens: Input should be greater than or equal to 1".into());
    }
    if request.temperature.is_some_and(|value| !(0.0..=1.0).contains(&value)) {
        return Err("temperature: range: 0..1".into());
    }
    if let Some(thinking) = request.thinking.as_ref().filter(|t| &*t.kind == "enabled") {
        let budget = thinking.budget_tokens.unwrap_or(0);
        if budget < 1024 {
            let least = "Input should be greater than or equal to 1024";
            return Err(format!("thinking.enabled.budget_tokens: {least}"));
        }
        if budget >= max_tokens {
            return Err("`max_tokens` must be greater than `thinking.budget_tokens`.".into());
        }
        if request.temperature.is_some_and(|value| value < 1.0) {
            return Err("`temperature` may only be set to 1 when thinking is enabled.".into());
        }
    }
    Ok(())
}

fn check_tools(tools: &[Tool<'_>]) -> Result<(), String> {
    for (index, tool) in tools.iter().enumerate() {
        if !is_plain(&tool.name, 128) {
            return Err(format!(
                "tools.{index}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
            ));
        }
        if tools[..index].iter().any(|earlier| *earlier.name == *tool.name) {
            return Err("tools: Tool names must be unique.".into());
        }
        if tool.kind.as_deref().is_some_and(|kind| kind != "custom") {
            continue;
        }
        let at = format!("tools.{index}.custom.input_schema");
        let Some(schema) = &tool.input_schema else { return Err(format!("{at}: Field required")) };
        if schema.get("type").and_then(serde_json::Value::as_str) != Some("object") {
            return Err(format!("{at}.type: Input should be 'object'"));
        }
        if ["oneOf", "allOf", "anyOf"].iter().any(|word| schema.contains_key(*word)) {
            return Err(format!(
                "{at}: input_schema does not support oneOf, allOf, or anyOf at the top level"
            ));
        }
    }
    Ok(())
}

/// Checks that there are four cache markers at most.
fn check_markers(request: &Body<'_>) -> Result<(), String> {
    let tools = request.tools.iter().filter(|tool| tool.cache_control.is_some()).count();
    let system = match &request.system {
        Some(Content::Blocks(blocks)) => blocks
            .iter()
            .filter(|SystemBlock::Text { cache_control, .. }| cache_control.is_some())
            .count(),
        _ => 0,
    };
    let blocks = request.messages.iter().filter_map(|message| match &message.content {
        Content::Text(_) => None,
        Content::Blocks(blocks) => Some(blocks.iter().filter(|block| block.is_cached()).count()),
    });
    let found = tools + system + blocks.sum::<usize>();
    let found = found + usize::from(request.cache_control.is_some());
    if found > 4 {
        return Err(format!(
            "A maximum of 4 blocks with cache_control may be provided. Found {found}."
        ));
    }
    Ok(())
}

fn system_text<'a>(
    system: Option<Content<'a, SystemBlock<'a>>>,
) -> Result<Cow<'a, str>, &'static str> {
    match system {
        None => Ok(Cow::Borrowed("")),
        Some(Content::Text(text)) => Ok(text),
        Some(Content::Blocks(blocks)) => {
            let texts = blocks.into_iter().map(|SystemBlock::Text { text, .. }| text.0);
            let texts: Vec<_> = texts.collect();
            if texts.iter().any(|text| text.is_empty()) {
                return Err("system: text content blocks must be non-empty");
            }
            Ok(join(texts))
        }
    }
}

fn turns<'a>(messages: Vec<Message<'a>>) -> Result<Vec<Turn<'a>>, String> {
    let last = messages.len().saturating_sub(1);
    let mut turns: Vec<Turn<'a>> = Vec::new();
    for (index, message) in messages.into_iter().enumerate() {
        let blocks = match message.content {
            Content::Text(text) if text.is_empty() => Vec::new(),
            Content::Text(text) => {
                vec![Block::Text { text: Text(text), cache_control: None, citations: None }]
            }
            Content::Blocks(blocks) => blocks,
        };
        if blocks.is_empty() && !(index == last && message.role == MessageRole::Assistant) {
            return Err(format!(
                "messages.{index}: all messages must have non-empty content except for the \
                 optional final assistant message"
            ));
        }
        match turns.last_mut().filter(|turn| turn.role == message.role) {
            Some(turn) => turn.blocks.extend(blocks),
            None => turns.push(Turn { role: message.role, blocks }),
        }
    }
    Ok(turns)
}

fn check_block(
    role: MessageRole,
    block: &Block<'_>,
    signatures: &Signatures,
) -> Result<(), &'static str> {
    const MISPLACED: &str = "this role cannot have a content block of this type";
    match (role, block) {
        (_, Block::Text { text, .. }) => check_text(text),
        (MessageRole::User, Block::Image { source, .. }) => check_source(source),
        (MessageRole::User, Block::Document { .. }) => Ok(()),
        (MessageRole::User, Block::ToolResult { content, .. }) => check_result(content.as_ref()),
        (MessageRole::Assistant, Block::ToolUse { id, name, .. }) => {
            if !is_plain(id, usize::MAX) {
                return Err("tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'");
            }
            if !is_plain(name, 128) {
                return Err("tool_use.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'");
            }
            Ok(())
        }
        (MessageRole::Assistant, Block::Thinking { thinking, signature }) => {
            if signatures.recognises(Wire::Anthropic, thinking, signature) {
                Ok(())
            } else {
                Err("Invalid `signature` in `thinking` block")
            }
        }
        (MessageRole::Assistant, Block::RedactedThinking { .. }) => {
            Err("Invalid `data` in `redacted_thinking` block")
        }
        _ => Err(MISPLACED),
    }
}

fn check_text(text: &str) -> Result<(), &'static str> {
    if text.is_empty() {
        return Err("text content blocks must be non-empty");
    }
    if text.trim().is_empty() {
        return Err("text content blocks must contain non-whitespace text");
    }
    Ok(())
}

fn check_source(source: &Source<'_>) -> Result<(), &'static str> {
    let Source::Base64 { media_type, data } = source else { return Ok(()) };
    if !matches!(&**media_type, "image/jpeg" | "image/png" | "image/gif" | "image/webp") {
        return Err("image.source.base64.media_type: Input should be 'image/jpeg', 'image/png', \
             'image/gif' or 'image/webp'");
    }
    if is_base64(data) { Ok(()) } else { Err("image.source.base64: invalid base64 data") }
}

fn check_result(content: Option<&Content<'_, ResultBlock<'_>>>) -> Result<(), &'static str> {
    let Some(Content::Blocks(blocks)) = content else { return Ok(()) };
    blocks.iter().try_for_each(|block| match block {
        ResultBlock::Text { text, .. } => check_text(text),
        ResultBlock::Image { source, .. } => check_source(source),
    })
}

fn add<'a>(conversation: &mut Conversation<'a>, turn: Turn<'a>) {
    let mut begins = true;
    let mut said = ScriptMessage::new(Role::Assistant, Cow::Borrowed(""));
    for block in turn.blocks {
        match block {
            Block::Text { text, .. } if turn.role == MessageRole::Assistant => {
                said.text = join([said.text, text.0]);
            }
            Block::ToolUse { name, .. } => said.calls.push(name.0),
            Block::Text { text, .. } => {
                conversation.push_user_text(text.0, begins);
                begins = false;
            }
            Block::Image { .. } => {
                conversation.push_user_image(begins, true);
                begins = false;
            }
            Block::ToolResult { content, .. } => {
                conversation.messages.push(ScriptMessage::new(Role::Tool, result_text(content)));
            }
            Block::Document { .. } | Block::Thinking { .. } | Block::RedactedThinking { .. } => {}
        }
    }
    match turn.role {
        MessageRole::Assistant => conversation.messages.push(said),
        MessageRole::User => conversation.settle_images(),
    }
}

fn result_text<'a>(content: Option<Content<'a, ResultBlock<'a>>>) -> Cow<'a, str> {
    match content {
        None => Cow::Borrowed(""),
        Some(Content::Text(text)) => text,
        Some(Content::Blocks(blocks)) => join(blocks.into_iter().filter_map(|block| match block {
            ResultBlock::Text { text, .. } => Some(text.0),
            ResultBlock::Image { .. } => None,
        })),
    }
}
